/// The contract of the driver, against a real Podman and a real Docker.

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/inside_request.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/probe.h"
#include "tests/engine/tls_relay.h"
#include "tests/engine/world.h"
#include "value/json.h"

namespace fettle {
namespace {

class DriverTest : public testing::TestWithParam<TestEngine::Sort> {
 protected:
  DriverTest()
      : world(running_engine(GetParam()),
              lower_case(testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~DriverTest() override { world.clear(); }

  static Value json(const std::string& text) {
    const auto value = read_json(text);
    EXPECT_TRUE(value) << to_string(value.error());
    return value.value_or(Value());
  }
  static Value sleeper(const std::string& more = "") {
    return json(R"({"image":"localhost/fettle/busybox:1","cmd":["sleep","1000"])" + more + "}");
  }
  static Value web(const std::string& more = "") {
    return json(R"({"image":"localhost/fettle/web:1",)"
                R"("ports":{"http":{"number":80,"transport":"TCP","wait":"20s"}})" +
                more + "}");
  }
  static std::string said(const Result<Record>& result) {
    return result ? "done" : to_string(result.error());
  }
  std::vector<ContainerState> containers() {
    return list_containers(world.engine(), {environment_filter(world.key("", "").environment)}, {})
        .value_or(std::vector<ContainerState>());
  }
  std::string artifact(const std::map<std::string, std::string>& files) {
    return *world.blobs().put(*pack_files(files));
  }
  static bool has(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
  }

  World world;
};

TEST_P(DriverTest, AnEmptyEnvironmentIsOneCall) {
  const auto made = world.apply(Verb::create, "network", "net", Value::dict({}));
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(world.calls, std::vector<std::string>{"POST /networks/create"});
  EXPECT_TRUE(parse_subnet(dict_of(made->outputs).text_at("subnet")));
  // Again, as after a crash: the same network.
  world.forget("network", "net");
  const auto again = world.apply(Verb::create, "network", "net", Value::dict({}));
  ASSERT_TRUE(again) << said(again);
  EXPECT_EQ(again->outputs, made->outputs);
  EXPECT_TRUE(world.observe("network", "net")->state);
  ASSERT_TRUE(world.apply(Verb::remove, "network", "net", Value::dict({})));
  EXPECT_FALSE(world.observe("network", "net")->state);
  EXPECT_TRUE(world.apply(Verb::remove, "network", "net", Value::dict({})));
}

TEST_P(DriverTest, WhatAnotherHomeHasOnTheEngineStaysAsItIs) {
  World ours(running_engine(GetParam()), "shared", {.home = "a"}),
      theirs(running_engine(GetParam()), "shared", {.home = "b"});
  ASSERT_TRUE(ours.service("web", web()));
  const auto first = ours.apply(Verb::create, "directory", "data", Value::dict({}));
  ASSERT_TRUE(first) << said(first);
  const auto network = theirs.apply(Verb::create, "network", "net", Value::dict({}));
  EXPECT_TRUE(has(said(network), "belongs to another home of fettle")) << said(network);
  const auto taken = theirs.apply(Verb::create, "directory", "data", Value::dict({}));
  EXPECT_TRUE(has(said(taken), "belongs to another home of fettle")) << said(taken);
  EXPECT_FALSE(theirs.observe("service", "web")->state);
  EXPECT_FALSE(theirs.observe("network", "net")->state);
  EXPECT_TRUE(theirs.driver().list("shared", {})->empty());
  EXPECT_TRUE(theirs.apply(Verb::remove, "service", "web", web()));
  for (const auto& [kind, name] : {std::pair("directory", "data"), std::pair("network", "net")})
    EXPECT_TRUE(theirs.apply(Verb::remove, kind, name, Value::dict({}))) << kind;
  EXPECT_EQ(ours.driver().list("shared", {})->size(), 3u);
  EXPECT_EQ(dict_of(*ours.observe("service", "web")->state).text_at("status"), "running");
  ours.clear();
  EXPECT_TRUE(ours.driver().list("shared", {})->empty());
}

TEST_P(DriverTest, WhenEveryRangeIsTakenTheErrorSaysSoAndTheNextOneThatIsFreedIsUsed) {
  const std::vector<Subnet> pools{*free_subnet(own_pools, 21, subnets_in_use(), 7)};
  const auto small = [&](const char* name) {
    return std::make_unique<World>(running_engine(GetParam()), name,
                                   EngineDriverOptions{.pools = pools});
  };
  const auto one = small("small-one"), two = small("small-two"), three = small("small-three");
  const auto make = [](World& environment) {
    return environment.apply(Verb::create, "network", "net", Value::dict({}));
  };
  const auto first = make(*one), second = make(*two), none = make(*three);
  ASSERT_TRUE(first) << said(first);
  ASSERT_TRUE(second) << said(second);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::world);
  EXPECT_TRUE(
      has(said(none), cat("no address range (/22) is free for a network in ", to_string(pools[0]))))
      << said(none);
  EXPECT_FALSE(three->observe("network", "net")->state) << "nothing is left of it";
  one->clear();
  const auto freed = make(*three);
  ASSERT_TRUE(freed) << said(freed);
  EXPECT_EQ(dict_of(freed->outputs).at("subnet"), dict_of(first->outputs).at("subnet"));
  two->clear();
  three->clear();
}

TEST_P(DriverTest, RequestsAreSentFromInsideWhereAddressesCannotBeReached) {
  World far(running_engine(GetParam()), "farther", {}, "ssh-like");
  const auto made = far.service("web", web());
  ASSERT_TRUE(made) << said(made);
  const auto ask = [&](const std::string& endpoint) {
    return far.apply(Verb::run, "request", endpoint,
                     json(R"({"service":"web","recipe":{"type":"get","port":"http","endpoint":")" +
                          endpoint + R"("},"acceptable_codes":[200,404]})"),
                     {"service/web"});
  };
  const auto there = ask("/index.html"), missing = ask("/none");
  ASSERT_TRUE(there) << said(there);
  EXPECT_EQ(dict_of(there->outputs).integer_at("code"), 200);
  EXPECT_EQ(dict_of(there->outputs).text_at("body"), "fettle\n");
  ASSERT_TRUE(missing) << said(missing);
  EXPECT_EQ(dict_of(missing->outputs).integer_at("code"), 404);
  far.clear();
}

TEST_P(DriverTest, RequestsByHttpsAreSentFromInsideWithTlsSpokenHere) {
  const auto python = [](const std::string& more) {
    return json(R"({"image":"localhost/fettle/python:1","cmd":["python3","/app/serve.py"])" + more +
                "}");
  };
  const auto idle = world.service("web", sleeper());
  ASSERT_TRUE(idle) << said(idle);
  const std::string address(dict_of(idle->outputs).text_at("ip_address"));
  const auto folder = TemporaryDirectory::make();
  ASSERT_TRUE(write_server_identity(folder->path(), address));
  const std::string app = artifact({{"cert.pem", *read_file(folder->path() / "cert.pem")},
                                    {"key.pem", *read_file(folder->path() / "key.pem")},
                                    {"serve.py", R"(
import http.server, ssl
class Answer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201); self.end_headers(); self.wfile.write(body * 1000)
server = http.server.ThreadingHTTPServer(("", 443), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/app/cert.pem", "/app/key.pem")
server.socket = context.wrap_socket(server.socket, server_side = True)
server.serve_forever()
)"}});
  const auto made = world.service(
      "web",
      python(cat(R"(,"ports":{"https":{"number":443,"transport":"TCP","wait":"20s"}},)"
                 R"("files":{"/app":[{"artifact":"a","digest":")",
                 app, R"("}]})")),
      Verb::replace);
  ASSERT_TRUE(made) << said(made);
  ASSERT_EQ(dict_of(made->outputs).text_at("ip_address"), address);
  const auto post = [&](const TlsSettings& tls) {
    return send_inside(world.http(), world.engine(), made->remote_id, address, 443,
                       {.method = "POST",
                        .url = cat("https://", address, ":443/x"),
                        .body = "hello",
                        .time_limit = 20s,
                        .tls = tls},
                       {});
  };
  const auto answer = post({.authorities = (folder->path() / "ca.pem").string()});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body.size(), 5'000u);
  // A client that is unknown here is not trusted there either.
  const auto stranger = post({});
  ASSERT_FALSE(stranger);
  EXPECT_TRUE(has(lower_case(to_string(stranger.error())), "certificate"))
      << to_string(stranger.error());
  // A probe only asks whether there is an answer.
  const auto anybody = post({.trusts_anybody = true});
  ASSERT_TRUE(anybody) << to_string(anybody.error());
  EXPECT_EQ(anybody->status, 201);
}

TEST_P(DriverTest, ARemoteEngineIsWorkedWithOverTls) {
  const auto folder = TemporaryDirectory::make();
  const auto relay = TlsRelay::start(folder->path(), running_engine(GetParam()).unix_socket);
  ASSERT_TRUE(relay) << to_string(relay.error());
  const auto variables = [&](const char* name) {
    return name == std::string_view("DOCKER_TLS_VERIFY")  ? std::optional<std::string>("1")
           : name == std::string_view("DOCKER_CERT_PATH") ? std::optional(folder->path().string())
                                                          : std::nullopt;
  };
  const auto address = parse_engine_address(cat("tcp://127.0.0.1:", (*relay)->port()), variables);
  ASSERT_TRUE(address) << to_string(address.error());
  World far(*address, "tls");
  const auto made = far.service("web", web());
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(far.run("web", {"cat", "/www/index.html"}), "fettle\n");
  const auto asked =
      far.apply(Verb::run, "wait", "ready",
                json(R"({"service":"web","recipe":{"type":"get","port":"http","endpoint":"/"},)"
                     R"("field":"code","assertion":"==","target":200,"timeout":"10s"})"),
                {"service/web"});
  EXPECT_TRUE(asked) << said(asked);
  far.clear();
  // A client without a certificate is refused, and an engine that cannot prove itself is not
  // trusted.
  EngineAddress nameless = *address, credulous = *address;
  nameless.tls.certificate = nameless.tls.key = "";
  credulous.tls.authorities = "";
  for (const EngineAddress& wrong : {nameless, credulous}) {
    HttpClient http;
    EXPECT_FALSE(Engine(http, wrong).ping({}));
  }
}

TEST_P(DriverTest, PortsAreAwaitedWhereAddressesCannotBeReached) {
  World far(running_engine(GetParam()), "far", {}, "ssh-like");
  const auto made = far.service("web", web());
  EXPECT_TRUE(made) << said(made);
  const auto deaf = far.service(
      "deaf", json(R"({"image":"localhost/fettle/busybox:1","cmd":["sleep","1000"],)"
                   R"("ports":{"http":{"number":80,"transport":"TCP","wait":"500ms"}}})"));
  EXPECT_TRUE(has(said(deaf), "did not open within 500ms")) << said(deaf);
  far.clear();
}

TEST_P(DriverTest, AServiceCostsTwoCallsAndAnswers) {
  ASSERT_TRUE(world.apply(Verb::create, "network", "net", Value::dict({})));
  world.calls.clear();
  const auto made = world.service("web", web());
  ASSERT_TRUE(made) << said(made);
  std::erase_if(world.calls, [](const std::string& call) { return call.ends_with("/json"); });
  EXPECT_EQ(world.calls,
            (std::vector<std::string>{"POST /containers/create",
                                      cat("POST /containers/", made->remote_id, "/start")}));
  const Value& outputs = dict_of(made->outputs);
  EXPECT_EQ(outputs.text_at("uuid").size(), 32u);
  EXPECT_EQ(containers()[0].name, cat("web--", outputs.text_at("uuid")));
  const int64_t port = outputs.at("ports").at("http").integer_at("public");
  const auto page = world.http().send({.url = cat("http://127.0.0.1:", port, "/")}, {});
  ASSERT_TRUE(page) << to_string(page.error());
  EXPECT_EQ(page->body, "fettle\n");
  const auto request =
      world.apply(Verb::run, "request", "r",
                  json(R"({"service":"web","recipe":{"type":"get","port":"http","endpoint":"/"}})"),
                  {"service/web"});
  ASSERT_TRUE(request) << said(request);
  EXPECT_EQ(request->outputs, json(R"({"code":200,"body":"fettle\n","extract":{}})"));
  const auto seen = world.observe("service", "web");
  EXPECT_EQ(dict_of(*seen->state).text_at("status"), "running");
  EXPECT_EQ(dict_of(*seen->state).text_at("container"), made->remote_id);
}

TEST_P(DriverTest, ConfigurationArrivesInTheContainer) {
  const auto made = world.service(
      "box", sleeper(R"(,"env":{"A":"b c","ME":"at ADDRESS"},"address_placeholder":"ADDRESS",)"
                     R"("user":{"uid":65534,"gid":65534},"memory_max":64,"cpu_max":500,)"
                     R"("labels":{"mine":"yes"},"capabilities":["NET_ADMIN"])"));
  ASSERT_TRUE(made) << said(made);
  const std::string_view address = dict_of(made->outputs).text_at("ip_address");
  EXPECT_EQ(world.run("box", {"sh", "-c", "echo \"$A\"; echo $ME; id -u; id -g; hostname"}),
            cat("b c\nat ", address, "\n65534\n65534\nbox\n"));
  EXPECT_TRUE(has(world.run("box", {"ip", "addr"}), address));
  EXPECT_TRUE(has(world.run("box", {"cat", "/proc/1/cmdline"}), "init"));
  EXPECT_EQ(containers()[0].labels.at("mine"), "yes");
  const auto inspected =
      world.engine().ask({.path = cat("/containers/", made->remote_id, "/json")}, {});
  const Value& host = inspected->body.at("HostConfig");
  EXPECT_EQ(host.integer_at("Memory"), 64'000'000);
  EXPECT_EQ(host.integer_at("NanoCpus"), 500'000'000);
}

TEST_P(DriverTest, ArtifactsAreMountedAndHideTheImage) {
  const std::string one = artifact({{"index.html", "from an artifact"}, {"sub/x", "deep"}});
  const std::string two = artifact({{"y", "second"}});
  const auto made = world.service(
      "web", web(cat(R"(,"files":{"/www":[{"artifact":"a","digest":")", one,
                     R"("},{"artifact":"b","digest":")", two,
                     R"("}],"/opt/new/place":[{"artifact":"b","digest":")", two, R"("}]})")));
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(
      world.run("web", {"sh", "-c", "cat /www/index.html /www/sub/x /www/y /opt/new/place/y"}),
      "from an artifactdeepsecondsecond");
  EXPECT_EQ(world.run("web", {"ls", "/www"}), "index.html\nsub\ny\n");
  // Its volumes go with it.
  ASSERT_TRUE(world.apply(Verb::remove, "service", "web", web(), {"network/net"}));
  EXPECT_EQ(containers().size(), 0u);
  const auto volumes = world.engine().ask({.path = "/volumes"}, {});
  EXPECT_TRUE(!volumes->body.at("Volumes").is_list() ||
              volumes->body.at("Volumes").items().empty());
}

TEST_P(DriverTest, ServicesFindEachOtherByName) {
  ASSERT_TRUE(world.service("web", web()));
  ASSERT_TRUE(world.service("box", sleeper()));
  EXPECT_EQ(world.run("box", {"wget", "-qO-", "http://web/"}), "fettle\n");
  EXPECT_TRUE(has(world.run("box", {"nslookup", "nobody"}), "returned exit code '1' that is not"));
}

TEST_P(DriverTest, AReplacementKeepsNameAddressAndPorts) {
  const auto before = world.service("web", web());
  ASSERT_TRUE(before) << said(before);
  // Neighbours remember it for up to a minute together with the address.
  const std::vector<std::string> hardware_address{"cat", "/sys/class/net/eth0/address"};
  const std::string hardware = world.run("web", hardware_address);
  const auto after = world.service("web", web(R"(,"env":{"A":"2"})"), Verb::replace);
  ASSERT_TRUE(after) << said(after);
  EXPECT_NE(after->remote_id, before->remote_id);
  for (const char* const field : {"uuid", "ip_address", "ports", "hostname"})
    EXPECT_EQ(dict_of(after->outputs).at(field), dict_of(before->outputs).at(field)) << field;
  ASSERT_EQ(containers().size(), 1u);
  EXPECT_EQ(containers()[0].id, after->remote_id);
  EXPECT_EQ(world.run("web", {"sh", "-c", "echo $A"}), "2\n");
  EXPECT_EQ(world.run("web", hardware_address), hardware);
}

TEST_P(DriverTest, AReplacementThatFailsBringsTheOldOneBack) {
  const auto before = world.service("web", web());
  ASSERT_TRUE(before) << said(before);
  const auto ends = world.service(
      "web", web(R"(,"entrypoint":["sh","-c"],"cmd":["echo going down; exit 7"])"), Verb::replace);
  ASSERT_FALSE(ends);
  EXPECT_TRUE(has(said(ends), "ended with exit code 7 before port `http` (80/TCP) of `web` was"))
      << said(ends);
  EXPECT_TRUE(has(said(ends), "going down")) << said(ends);
  EXPECT_TRUE(has(said(ends), "the previous container runs again")) << said(ends);
  ASSERT_EQ(containers().size(), 1u);
  EXPECT_EQ(containers()[0].id, before->remote_id);
  EXPECT_EQ(containers()[0].name, cat("web--", dict_of(before->outputs).text_at("uuid")));
  EXPECT_TRUE(containers()[0].runs());
  const auto never =
      world.service("web", json(R"({"image":"localhost/fettle/no-such:1"})"), Verb::replace);
  EXPECT_TRUE(has(lower_case(said(never)), "no such image")) << said(never);
  EXPECT_EQ(containers().size(), 1u);
  EXPECT_TRUE(containers()[0].runs());
}

TEST_P(DriverTest, APortThatNeverOpensIsAnErrorWithTheLastLines) {
  const auto made =
      world.service("deaf", json(R"({"image":"localhost/fettle/busybox:1",)"
                                 R"("cmd":["sh","-c","echo I do not listen; sleep 1000"],)"
                                 R"("ports":{"http":{"number":80,"transport":"TCP","wait":"1s"},)"
                                 R"("dns":{"number":53,"transport":"UDP","wait":"1s"}}})"));
  ASSERT_FALSE(made);
  EXPECT_TRUE(has(said(made), "port `http` (80/TCP) of `deaf` did not open within 1s"))
      << said(made);
  EXPECT_TRUE(has(said(made), "I do not listen")) << said(made);
  // The next attempt, with the mistake corrected, replaces the rest.
  const auto mended = world.service("deaf", web());
  ASSERT_TRUE(mended) << said(mended);
  EXPECT_EQ(containers().size(), 1u);
}

TEST_P(DriverTest, AUdpPortIsAwaitedWhenThatIsAskedFor) {
  // Another program with a datagram socket binds the port in the same way.
  const auto serving = [](const std::string& command, const std::string& wait) {
    return json(cat(R"({"image":"localhost/fettle/busybox:1","capabilities":["NET_RAW"],)",
                    R"("cmd":["sh","-c",")", command, R"("],"ports":{"dhcp":{"number":67,)",
                    R"("transport":"UDP","awaited":true,"wait":")", wait, R"("}}})"));
  };
  const auto deaf = world.service("dhcp", serving("sleep 1000", "500ms"));
  ASSERT_FALSE(deaf);
  EXPECT_TRUE(has(said(deaf), "port `dhcp` (67/UDP) of `dhcp` did not open within 500ms"))
      << said(deaf);
  const auto made = world.service(
      "dhcp",
      serving("printf 'interface eth0\\nstart 10.9.9.1\\nend 10.9.9.2\\nlease_file /l\\n' > "
              "/c; : > /l; sleep 0.3; udhcpd -f /c",
              "2m"));
  ASSERT_TRUE(made) << said(made);
  const auto inside = [&](int port) {
    return *listens_inside(world.engine(), made->remote_id, {Socket::Sort::udp, port}, {});
  };
  EXPECT_TRUE(inside(67));
  EXPECT_FALSE(inside(68));
}

TEST_P(DriverTest, ApplyingTwiceIsApplyingOnce) {
  const auto once = world.service("web", web());
  ASSERT_TRUE(once) << said(once);
  world.forget("network", "net");
  world.forget("service", "web");
  world.restart();  // a process that knows nothing, and a lost store
  const auto twice = world.service("web", web());
  ASSERT_TRUE(twice) << said(twice);
  EXPECT_EQ(twice->remote_id, once->remote_id);
  EXPECT_EQ(twice->outputs, once->outputs);
  EXPECT_EQ(containers().size(), 1u);
  // Another wish replaces the found service.
  world.forget("service", "web");
  const auto other = world.service("web", web(R"(,"env":{"A":"b"})"));
  ASSERT_TRUE(other) << said(other);
  EXPECT_NE(other->remote_id, once->remote_id);
  EXPECT_EQ(dict_of(other->outputs).at("ports"), dict_of(once->outputs).at("ports"));
  EXPECT_EQ(containers().size(), 1u);
  ASSERT_TRUE(world.apply(Verb::remove, "service", "web", web(), {"network/net"}));
  EXPECT_TRUE(world.apply(Verb::remove, "service", "web", web(), {"network/net"}));
  EXPECT_FALSE(world.observe("service", "web")->state);
}

/// The process dies at its first call, at its second, …; whatever exists afterwards must always be
/// brought to the same end.
TEST_P(DriverTest, ACrashAnywhereIsRecoveredFrom) {
  const std::string files = artifact({{"x", "content"}});
  const Value first = sleeper();
  const Value second =
      sleeper(cat(R"(,"files":{"/data":[{"artifact":"a","digest":")", files, R"("}]})"));
  ASSERT_TRUE(world.service("box", first));
  const RecordPointer before = world.known("service", "box");
  bool whole = false;
  for (size_t at = 1; !whole && at < 20; ++at) {
    world.calls.clear();
    world.dies_at = at;
    whole = world.service("box", second, Verb::replace).has_value();
    world.dies_at = 0;
    world.restart();
    const auto recovered = world.service("box", second);
    ASSERT_TRUE(recovered) << at << ": " << said(recovered);
    ASSERT_EQ(containers().size(), 1u) << at;
    EXPECT_EQ(containers()[0].id, recovered->remote_id) << at;
    EXPECT_EQ(containers()[0].name, cat("box--", dict_of(recovered->outputs).text_at("uuid")))
        << at;
    EXPECT_TRUE(containers()[0].runs()) << at;
    EXPECT_EQ(dict_of(recovered->outputs).at("ip_address"),
              dict_of(before->outputs).at("ip_address"))
        << at;
    EXPECT_EQ(world.run("box", {"cat", "/data/x"}), "content") << at;
    const auto back = world.service("box", first, Verb::replace);
    ASSERT_TRUE(back) << at << ": " << said(back);
  }
  EXPECT_TRUE(whole);
}

TEST_P(DriverTest, AStoppedServiceIsStartedAgain) {
  const auto made = world.service("web", web());
  ASSERT_TRUE(made) << said(made);
  const Value host = json(R"({"service":"web"})");
  ASSERT_TRUE(world.apply(Verb::run, "stop", "s", host, {"service/web"}));
  EXPECT_EQ(dict_of(*world.observe("service", "web")->state).text_at("status"), "exited");
  ASSERT_TRUE(world.apply(Verb::run, "start", "s", host, {"service/web"}));
  EXPECT_EQ(dict_of(*world.observe("service", "web")->state).text_at("status"), "running");
  EXPECT_EQ(world.run("web", {"wget", "-qO-",
                              cat("http://", dict_of(made->outputs).text_at("ip_address"))}),
            "fettle\n");
  ASSERT_TRUE(world.apply(Verb::stop, "service", "web", web(), {"network/net"}));
  const auto started = world.apply(Verb::start, "service", "web", web(), {"network/net"});
  ASSERT_TRUE(started) << said(started);
  EXPECT_EQ(dict_of(started->outputs).integer_at("started"),
            dict_of(made->outputs).integer_at("started") + 1);
  const int64_t port = dict_of(started->outputs).at("ports").at("http").integer_at("public");
  EXPECT_TRUE(accepts_connections("127.0.0.1", static_cast<int>(port), 1s));
  ASSERT_TRUE(world.apply(Verb::run, "remove", "r", host, {"service/web"}));
  EXPECT_FALSE(world.observe("service", "web")->state);
}

TEST_P(DriverTest, AStoppedServiceWhoseNetworkIsGoneIsMadeAnewOnAnother) {
  ASSERT_TRUE(world.service("web", web()));
  ASSERT_TRUE(world.apply(Verb::stop, "service", "web", web(), {"network/net"}));
  EXPECT_EQ(dict_of(*world.observe("service", "web")->state).text_at("status"), "exited");
  const RecordPointer before = world.known("service", "web");
  // Docker lets a network go that only stopped containers stand on; Podman takes these with it.
  const std::string name(dict_of(world.known("network", "net")->outputs).text_at("name"));
  const bool docker = GetParam() == TestEngine::Sort::docker;
  const auto removed =
      docker
          ? world.engine().ask({.method = "DELETE", .path = "/networks/" + name}, {})
          : world.engine().ask_podman(
                {.method = "DELETE", .path = cat("/networks/", name), .query = {{"force", "true"}}},
                {});
  ASSERT_TRUE(removed && removed->ok()) << (removed ? removed->message() : "");
  world.restart();
  const auto seen = world.observe("service", "web");
  ASSERT_TRUE(seen) << to_string(seen.error());
  EXPECT_EQ(seen->state.has_value(), docker);
  if (docker) {
    EXPECT_EQ(dict_of(*seen->state).text_at("status"), "unattached");
  }
  EXPECT_FALSE(world.observe("network", "net")->state);
  world.forget("network", "net");
  const auto again = world.service("web", web(), docker ? Verb::replace : Verb::create);
  ASSERT_TRUE(again) << said(again);
  EXPECT_EQ(dict_of(again->outputs).text_at("uuid"), dict_of(before->outputs).text_at("uuid"));
  EXPECT_EQ(world.run("web", {"cat", "/www/index.html"}), "fettle\n");
}

TEST_P(DriverTest, AnAddressThatSomebodyHasMeanwhileGivesWay) {
  ASSERT_TRUE(world.service("web", web()));
  const std::string address(dict_of(world.known("service", "web")->outputs).text_at("ip_address"));
  const std::string network(dict_of(world.known("network", "net")->outputs).text_at("name"));
  ASSERT_TRUE(world.apply(Verb::stop, "service", "web", web(), {"network/net"}));
  const auto other =
      create_container(world.engine(), cat("taker-", to_string(GetParam())),
                       json(cat(R"({"Image":"localhost/fettle/busybox:1","Cmd":["sleep","1000"],)",
                                R"("HostConfig":{"NetworkMode":")", network,
                                R"("},"NetworkingConfig":{"EndpointsConfig":{")", network,
                                R"(":{"IPAMConfig":{"IPv4Address":")", address, R"("}}}}})")),
                       {});
  ASSERT_TRUE(other) << to_string(other.error());
  const Status taken = start_container(world.engine(), other->id, {});
  EXPECT_TRUE(taken) << to_string(taken.error());
  const auto started = world.apply(Verb::start, "service", "web", web(), {"network/net"});
  EXPECT_TRUE(started) << said(started);
  if (started) {
    EXPECT_NE(dict_of(started->outputs).text_at("ip_address"), address);
    EXPECT_EQ(dict_of(*world.observe("service", "web")->state).text_at("status"), "running");
    EXPECT_EQ(world.run("web", {"cat", "/www/index.html"}), "fettle\n");
  }
  EXPECT_TRUE(remove_container(world.engine(), other->id, {}));
}

/// Takes a container off a network, as `docker network disconnect` does.
void disconnect(Engine& engine, const std::string& network, const std::string& container) {
  const auto answer = engine.ask({.method = "POST",
                                  .path = cat("/networks/", network, "/disconnect"),
                                  .body = Value::dict({{"Container", container}, {"Force", true}})},
                                 {});
  ASSERT_TRUE(answer && answer->ok()) << (answer ? answer->message() : to_string(answer.error()));
}

TEST_P(DriverTest, WhatIsCutOffProvesNothingAboutItsNetwork) {
  ASSERT_TRUE(world.service("box", sleeper()));
  const std::string network(dict_of(world.known("network", "net")->outputs).text_at("name"));
  disconnect(world.engine(), network, world.known("service", "box")->remote_id);
  const auto removed = world.engine().ask({.method = "DELETE", .path = "/networks/" + network}, {});
  ASSERT_TRUE(removed && removed->ok()) << (removed ? removed->message() : "");
  world.restart();
  EXPECT_TRUE(dict_of(*world.observe("service", "box")->state).bool_at("cut_off"));
  EXPECT_FALSE(world.observe("network", "net")->state);
}

TEST_P(DriverTest, WhatIsStoppedAndCutOffIsMadeAnewOnItsNetwork) {
  ASSERT_TRUE(world.service("box", sleeper()));
  const std::string network(dict_of(world.known("network", "net")->outputs).text_at("name"));
  const std::string before = world.known("service", "box")->remote_id;
  ASSERT_TRUE(world.apply(Verb::stop, "service", "box", sleeper(), {"network/net"}));
  disconnect(world.engine(), network, before);
  world.restart();
  EXPECT_EQ(dict_of(*world.observe("service", "box")->state).text_at("status"), "unattached");
  const auto started = world.apply(Verb::start, "service", "box", sleeper(), {"network/net"});
  ASSERT_TRUE(started) << said(started);
  EXPECT_NE(started->remote_id, before);
  const auto seen = world.observe("service", "box");
  EXPECT_EQ(dict_of(*seen->state).text_at("status"), "running");
  EXPECT_FALSE(dict_of(*seen->state).bool_at("cut_off"));
}

/// Behaviour of Podman only; Docker creates the folder of a container again.
class PodmanTest : public DriverTest {};

// As if a part of the engine's folder had been lost.
TEST_P(PodmanTest, WhatItCannotStartAnyMoreIsMadeAnew) {
  ASSERT_TRUE(world.service("box", sleeper()));
  const std::string before = world.known("service", "box")->remote_id;
  ASSERT_TRUE(world.apply(Verb::stop, "service", "box", sleeper(), {"network/net"}));
  const auto info = world.engine().ask({.path = "/info"}, {});
  ASSERT_TRUE(info && info->ok());
  const Path userdata = Path(std::string(info->body.text_at("DockerRootDir"))) /
                        cat(info->body.text_at("Driver"), "-containers") / before / "userdata";
  ASSERT_GT(std::filesystem::remove_all(userdata), 0u) << userdata;
  ASSERT_FALSE(start_container(world.engine(), before, {})) << "it cannot be started";
  const auto started = world.apply(Verb::start, "service", "box", sleeper(), {"network/net"});
  ASSERT_TRUE(started) << said(started);
  EXPECT_NE(started->remote_id, before);
  EXPECT_EQ(dict_of(*world.observe("service", "box")->state).text_at("status"), "running");
  EXPECT_FALSE(dict_of(*world.observe("service", "box")->state).bool_at("cut_off"));
}

TEST_P(DriverTest, AnExitIsSeenWithItsCode) {
  ASSERT_TRUE(world.service(
      "short", json(R"({"image":"localhost/fettle/busybox:1","cmd":["sh","-c","exit 3"]})")));
  Value state;
  for (int i = 0; i < 100 && state.text_at("status") != "exited"; ++i) {
    std::this_thread::sleep_for(20ms);
    state = dict_of(*world.observe("service", "short")->state);
  }
  EXPECT_EQ(state.at("exit_code"), Value(3));
}

TEST_P(DriverTest, CommandsAnswerWithCodeAndOutput) {
  ASSERT_TRUE(world.service("box", sleeper()));
  const auto run = [&](const std::string& command, const std::string& more = "") {
    return world.apply(
        Verb::run, "exec", "e",
        json(R"({"service":"box","recipe":{"type":"exec","command":)" + command + "}" + more + "}"),
        {"service/box"});
  };
  const auto both = run(R"(["sh","-c","echo out; echo err >&2"])");
  ASSERT_TRUE(both) << said(both);
  EXPECT_EQ(dict_of(both->outputs).integer_at("code", -1), 0);
  EXPECT_EQ(dict_of(both->outputs).text_at("output").size(), 8u);
  EXPECT_TRUE(
      has(said(run(R"(["sh","-c","echo why; exit 4"])")),
          "Exec returned exit code '4' that is not part of the acceptable status codes '[0]', with "
          "output:\nwhy"));
  const auto accepted = run(R"(["sh","-c","exit 4"])", R"(,"acceptable_codes":[4])");
  EXPECT_EQ(dict_of(accepted->outputs).integer_at("code"), 4);
  const auto missing = run(R"(["no-such-program"])", R"(,"skip_code_check":true)");
  ASSERT_TRUE(missing) << said(missing);
  EXPECT_GE(dict_of(missing->outputs).integer_at("code"), 126);
  const auto large = run(R"(["sh","-c","yes | head -c 300000"])");
  EXPECT_EQ(dict_of(large->outputs).text_at("output").size(), 300'000u);
}

TEST_P(DriverTest, WaitingEndsWhenTheAssertionHolds) {
  ASSERT_TRUE(world.service("box", sleeper()));
  const auto wait = [&](const std::string& command, const std::string& timeout) {
    return world.apply(
        Verb::run, "wait", "w",
        json(cat(R"({"service":"box","recipe":{"type":"exec","command":["sh","-c",")", command,
                 R"("]},"field":"code","assertion":"==","target":0,)", R"("timeout":")", timeout,
                 R"("})")),
        {"service/box"});
  };
  const auto met = wait("echo >>/tries; test $(wc -l </tries) -ge 3", "60s");
  ASSERT_TRUE(met) << said(met);
  EXPECT_EQ(dict_of(met->outputs).integer_at("tries"), 3);
  EXPECT_TRUE(has(said(wait("false", "300ms")), "gave up after ")) << "it should not be met";
}

TEST_P(DriverTest, ATaskRunsAndLeavesFiles) {
  ASSERT_TRUE(world.apply(Verb::create, "network", "net", Value::dict({})));
  const std::string input = artifact({{"in", "41"}});
  const auto task = [&](const std::string& script, const std::string& more) {
    return world.apply(
        Verb::run, "task", "t",
        Value::dict(
            {{"image", "localhost/fettle/busybox:1"},
             {"command", Value::list({Value("sh"), Value("-c"), Value(script)})},
             {"env", json(R"({"A":"b"})")},
             {"files", json(cat(R"({"/in":[{"artifact":"i","digest":")", input, R"("}]})"))},
             {"store", json(more)}}),
        {"network/net"});
  };
  const auto done =
      task("mkdir -p /out/d; echo $(($(cat /in/in)+1)) >/out/d/n; echo x >/out/x.txt; echo $A",
           R"([{"path":"/out"},{"path":"/out/*.txt"},{"path":"/out/d/n"}])");
  ASSERT_TRUE(done) << said(done);
  EXPECT_EQ(dict_of(done->outputs).text_at("output"), "b\n");
  const auto names = [&](const char* file) {
    std::string found;
    ArchiveReader reader(
        world.blobs().open(dict_of(done->outputs).at("files").text_at(file))->source);
    for (auto entry = reader.next(); entry && *entry; entry = reader.next())
      found += (*entry)->path + " ";
    return found;
  };
  EXPECT_TRUE(has(names("0"), "out/d/n "));
  EXPECT_EQ(names("1"), "x.txt ");
  EXPECT_EQ(names("2"), "n ");
  EXPECT_EQ(containers().size(), 0u);
  EXPECT_TRUE(has(said(task("echo no; exit 2", "[]")), "Task returned exit code '2' that is not"));
  EXPECT_TRUE(
      has(said(task("true", R"([{"path":"/nowhere"}])")), "there is nothing at `/nowhere`"));
  EXPECT_EQ(containers().size(), 0u);
}

TEST_P(DriverTest, WhatAKilledTaskLeavesIsRemoved) {
  const Value task = json(R"({"image":"localhost/fettle/busybox:1","command":["true"]})");
  size_t most = 0;
  for (size_t dies_at = 1;; ++dies_at) {
    world.calls.clear();
    world.dies_at = dies_at;
    const auto run = world.apply(Verb::run, "task", "t", task);
    world.dies_at = 0;
    most = std::max(most, containers().size());
    world.restart();
    const auto removed = world.apply(Verb::remove, "task", "t", task);
    ASSERT_TRUE(removed) << said(removed);
    EXPECT_EQ(containers().size(), 0u) << dies_at;
    if (run)
      break;
  }
  EXPECT_EQ(most, 1u) << "none was left by any";
}

TEST_P(DriverTest, ATaskThatTakesTooLongIsEnded) {
  const auto late = world.apply(
      Verb::run, "task", "t",
      json(
          R"({"image":"localhost/fettle/busybox:1","command":["sleep","100"],"timeout":"500ms"})"));
  EXPECT_TRUE(has(said(late), "did not end within 500ms")) << said(late);
  EXPECT_EQ(containers().size(), 0u);
}

TEST_P(DriverTest, FilesAreCopiedOutOfAServiceReproducibly) {
  ASSERT_TRUE(world.service("box", sleeper()));
  world.run("box", {"sh", "-c", "mkdir -p /x/y; echo 1 >/x/y/z"});
  const auto copy = [&] {
    return world.apply(Verb::create, "artifact", "a",
                       json(R"({"source":"service","service":"box","path":"/x"})"),
                       {"service/box"});
  };
  const auto first = copy();
  ASSERT_TRUE(first) << said(first);
  world.run("box", {"touch", "/x/y/z"});
  const auto second = copy();
  EXPECT_EQ(dict_of(second->outputs).at("digest"), dict_of(first->outputs).at("digest"));
  EXPECT_EQ(second->changes, first->changes);
  const auto out = TemporaryDirectory::make();
  ASSERT_TRUE(
      unpack(world.blobs().open(dict_of(first->outputs).text_at("digest"))->source, out->path()));
  EXPECT_EQ(*read_file(out->path() / "x/y/z"), "1\n");
  EXPECT_EQ(dict_of(*world.observe("artifact", "a")->state).at("digest"),
            dict_of(first->outputs).at("digest"));
}

TEST_P(DriverTest, APersistentDirectoryOutlivesItsServices) {
  const auto made = world.apply(Verb::create, "directory", "data", Value::dict({}));
  ASSERT_TRUE(made) << said(made);
  const Value attributes = sleeper(cat(R"(,"files":{"/data":{"directory":"data","volume":")",
                                       dict_of(made->outputs).text_at("volume"), R"("}})"));
  ASSERT_TRUE(world.service("box", attributes));
  world.run("box", {"sh", "-c", "echo kept >/data/x"});
  ASSERT_TRUE(world.service("box", attributes, Verb::replace));
  EXPECT_EQ(world.run("box", {"cat", "/data/x"}), "kept\n");
  ASSERT_TRUE(world.apply(Verb::remove, "service", "box", attributes, {"network/net"}));
  EXPECT_TRUE(world.observe("directory", "data")->state);
  ASSERT_TRUE(world.apply(Verb::remove, "directory", "data", Value::dict({})));
  EXPECT_FALSE(world.observe("directory", "data")->state);
}

TEST_P(DriverTest, AnEnvironmentIsObservedWithOneListAndItsImagesByName) {
  ASSERT_TRUE(world.service("a", sleeper()));
  ASSERT_TRUE(world.service("b", sleeper()));
  const auto image = world.apply(Verb::create, "image", "busybox",
                                 json(R"({"reference":"localhost/fettle/busybox:1"})"));
  ASSERT_TRUE(image) << said(image);
  world.calls.clear();
  std::vector<Subject> subjects;
  for (const auto& [kind, name] :
       std::vector<std::pair<std::string, std::string>>{{"image", "busybox"},
                                                        {"image", "localhost/fettle/none:1"},
                                                        {"network", "net"},
                                                        {"service", "a"},
                                                        {"service", "b"},
                                                        {"service", "gone"}})
    subjects.push_back({world.key(kind, name), nullptr, world.known(kind, name)});
  const auto seen = world.driver().observe(subjects, {});
  ASSERT_TRUE(seen);
  std::ranges::sort(world.calls);
  EXPECT_EQ(world.calls, (std::vector<std::string>{"GET /containers/json",
                                                   "GET /images/localhost/fettle/busybox:1/json",
                                                   "GET /images/localhost/fettle/none:1/json"}));
  EXPECT_EQ(dict_of(*(*seen)[0].state).at("id"), dict_of(image->outputs).at("id"));
  EXPECT_FALSE((*seen)[1].state);
  EXPECT_EQ(dict_of(*(*seen)[2].state), dict_of(world.known("network", "net")->outputs));
  EXPECT_EQ(dict_of(*(*seen)[4].state).text_at("container"),
            world.known("service", "b")->remote_id);
  EXPECT_FALSE((*seen)[5].state);
}

TEST_P(DriverTest, AnEnvironmentIsFoundByItsMarksAlone) {
  const auto web_record = world.service("web", web());
  ASSERT_TRUE(world.apply(Verb::create, "directory", "data", Value::dict({})));
  const auto found = world.driver().list(world.key("", "").environment, {});
  ASSERT_TRUE(found);
  std::vector<std::string> keys;
  for (const Found& one : *found)
    keys.push_back(to_string(one.key));
  EXPECT_EQ(keys, (std::vector<std::string>{"directory/data", "network/net", "service/web"}));
  const Record& record = (*found)[2].record;
  EXPECT_EQ(record.remote_id, web_record->remote_id);
  for (const char* const field : {"uuid", "ip_address", "ports"})
    EXPECT_EQ(dict_of(record.outputs).at(field), dict_of(web_record->outputs).at(field)) << field;
  EXPECT_EQ((*found)[1].record.outputs, world.known("network", "net")->outputs);
}

TEST_P(DriverTest, AStopEndsWhateverIsBeingDone) {
  ASSERT_TRUE(world.service("box", sleeper()));
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(300ms);
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto ended =
      world.apply(Verb::run, "exec", "e",
                  json(R"({"service":"box","recipe":{"type":"exec","command":["sleep","60"]}})"),
                  {"service/box"}, stop.get_token());
  ASSERT_FALSE(ended);
  EXPECT_TRUE(has(said(ended), "cancelled")) << said(ended);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

TEST_P(DriverTest, WhatHappensOutsideIsHintedAt) {
  ASSERT_TRUE(world.service("box", sleeper()));
  std::atomic<int> hints = 0;
  std::jthread watcher([&](const std::stop_token& stop) {
    world.driver().watch(
        world.key("", "").environment,
        [&](const Key& key) { hints += key == world.key("service", "box") ? 1 : 100; }, stop);
  });
  std::this_thread::sleep_for(300ms);
  ASSERT_TRUE(remove_container(world.engine(), world.known("service", "box")->remote_id, {}));
  for (int i = 0; i < 100 && hints == 0; ++i)
    std::this_thread::sleep_for(50ms);
  EXPECT_GT(hints, 0);
  EXPECT_LT(hints, 100);
  EXPECT_FALSE(world.observe("service", "box")->state);
}

TEST_P(DriverTest, RedisAndPythonRun) {
  const auto made = world.service(
      "redis", json(R"({"image":"localhost/fettle/redis:1",)"
                    R"("ports":{"redis":{"number":6379,"transport":"TCP","wait":"20s"}}})"));
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(world.run("redis", {"redis-cli", "ping"}), "PONG\n");
  const auto task =
      world.apply(Verb::run, "task", "t",
                  json(R"({"image":"localhost/fettle/python:1","command":["python3","-c",)"
                       R"x("import socket; print(socket.gethostbyname('redis') != '')"]})x"),
                  {"network/net"});
  ASSERT_TRUE(task) << said(task);
  EXPECT_EQ(dict_of(task->outputs).text_at("output"), "True\n");
}

INSTANTIATE_TEST_SUITE_P(Engines, DriverTest,
                         testing::Values(TestEngine::Sort::podman, TestEngine::Sort::docker),
                         [](const auto& sort) { return to_string(sort.param); });
INSTANTIATE_TEST_SUITE_P(Engines, PodmanTest, testing::Values(TestEngine::Sort::podman),
                         [](const auto& sort) { return to_string(sort.param); });

}  // namespace
}  // namespace fettle
