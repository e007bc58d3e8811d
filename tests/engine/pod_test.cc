/// Pods on a real Podman and a real Docker: a holder, containers that are replaced below it, their
/// observed state, and that nothing is duplicated or lost when a process dies in the middle.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/wait.h"
#include "core/open_payload.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/exec.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/pause.h"
#include "drivers/engine/volumes.h"
#include "tests/engine/world.h"
#include "value/json.h"

namespace fettle {
namespace {

const std::string pod_name = "|default/web-1";

class PodTest : public testing::TestWithParam<TestEngine::Sort> {
 protected:
  PodTest()
      : world(running_engine(GetParam()),
              cat("pod-", lower_case(testing::UnitTest::GetInstance()->current_test_info()->name())
                              .substr(0, 24))) {
    EXPECT_TRUE(world.apply(Verb::create, "network", "net", Value::dict({})));
  }
  ~PodTest() override { world.clear(); }

  static Value json(const std::string& text) {
    const auto value = read_json(text);
    EXPECT_TRUE(value) << to_string(value.error()) << text;
    return value.value_or(Value());
  }
  /// A pod from the fields of its PodSpec and its other attributes.
  Value pod(const std::string& spec, const std::string& more = "") const {
    return json(cat(R"({"name":"web-1","template":{"metadata":{"labels":{"app":"web"}},"spec":{)",
                    R"("terminationGracePeriodSeconds":)", grace_s, ",", spec, "}}", more, "}"));
  }
  static std::string web(const std::string& more = "") {
    return cat(R"({"name":"web","image":"localhost/fettle/web:1")", more, "}");
  }
  static std::string sleeper(const std::string& name, const std::string& more = "") {
    return cat(R"({"name":")", name,
               R"(","image":"localhost/fettle/busybox:1","command":["sleep","1000"])", more, "}");
  }
  static std::string containers(std::initializer_list<std::string> list) {
    return cat(R"("containers":[)", join(std::vector<std::string>(list), ","), "]");
  }

  Result<Record> bring(const Value& attributes, Verb verb = Verb::create) {
    return world.apply(verb, "pod", pod_name, attributes, {"network/net"});
  }
  static std::string said(const Result<Record>& result) {
    return result ? "done" : to_string(result.error());
  }
  Value status() {
    const auto seen = world.observe("pod", pod_name);
    EXPECT_TRUE(seen) << to_string(seen.error());
    return seen && seen->state ? dict_of(*seen->state) : Value();
  }
  static Value row(const Value& status, std::string_view container) {
    for (const char* list : {"containerStatuses", "initContainerStatuses"})
      if (status.at(list).is_list())
        for (const Value& row : status.at(list).items())
          if (row.text_at("name") == container)
            return row;
    return {};
  }
  static Value condition(const Value& status, std::string_view type) {
    if (status.at("conditions").is_list())
      for (const Value& condition : status.at("conditions").items())
        if (condition.text_at("type") == type)
          return condition;
    return {};
  }
  static std::string id_of(const Value& status, std::string_view container) {
    const std::string id(row(status, container).text_at("containerID"));
    const size_t slashes = id.find("://");
    return slashes == id.npos ? std::string() : id.substr(slashes + 3);
  }
  std::string run(std::string_view container, const std::vector<std::string>& command) {
    std::string output;
    const auto code = run_exec(world.engine(), id_of(status(), container), {.command = command},
                               [&](OutputStream, std::string_view bytes) {
                                 output += bytes;
                                 return Status();
                               },
                               {});
    EXPECT_TRUE(code) << to_string(code.error());
    return output;
  }
  std::vector<ContainerState> all() {
    const auto found = list_containers(world.engine(), key_filters(world.key("pod", pod_name)), {});
    EXPECT_TRUE(found) << to_string(found.error());
    return found.value_or(std::vector<ContainerState>());
  }
  size_t volumes() {
    const auto found =
        list_volumes(world.engine(), {environment_filter(world.key("", "").environment)}, {});
    return found ? found->size() : 999;
  }
  /// Looks until the observed state passes the test, for as long as an engine may need.
  template <typename Test>
  bool becomes(const Test& test) {
    const Instant began = instant_from_clock();
    while (instant_from_clock() - began < 30s) {
      if (test(status()))
        return true;
      EXPECT_TRUE(pause_for(20ms, {}));
    }
    return false;
  }

  World world;
  int grace_s = 0;
};

TEST_P(PodTest, ContainersShareOneAddressAndAreSeenAsAStatus) {
  const Value wanted = pod(containers({web(), sleeper("side")}));
  const auto made = bring(wanted);
  ASSERT_TRUE(made) << said(made);
  const Value seen = status();
  EXPECT_EQ(seen.text_at("phase"), "Running");
  EXPECT_EQ(seen.text_at("podIP"), dict_of(made->outputs).text_at("ip"));
  EXPECT_FALSE(dict_of(made->outputs).text_at("uid").empty());
  EXPECT_EQ(condition(seen, "Ready").text_at("status"), "True") << write_json(seen);
  EXPECT_EQ(row(seen, "web").text_at("image"), "localhost/fettle/web:1");
  EXPECT_TRUE(row(seen, "web").text_at("imageID").starts_with("sha256:"));
  EXPECT_EQ(row(seen, "web").integer_at("restartCount", -1), 0);
  EXPECT_TRUE(row(seen, "side").at("state").at("running").is_dict());
  EXPECT_EQ(row(seen, "side").at("state").at("running").text_at("startedAt").size(), 20u);
  // The neighbour is found on the shared loopback, and by the pod's name.
  EXPECT_TRUE(becomes([&](const Value&) {
    return run("side", {"wget", "-qO-", "http://127.0.0.1/"}) == "fettle\n";
  }));
  EXPECT_EQ(run("side", {"wget", "-qO-", "http://web-1/"}), "fettle\n");
  EXPECT_EQ(run("side", {"hostname"}), "web-1\n");
  EXPECT_EQ(all().size(), 3u);
  // The same once more does nothing.
  const auto again = bring(wanted, Verb::update);
  ASSERT_TRUE(again) << said(again);
  EXPECT_EQ(again->outputs, made->outputs);
  EXPECT_EQ(again->changes, made->changes);

  ASSERT_TRUE(world.apply(Verb::remove, "pod", pod_name, wanted, {"network/net"}));
  EXPECT_TRUE(all().empty());
  EXPECT_FALSE(world.observe("pod", pod_name)->state);
  EXPECT_TRUE(world.apply(Verb::remove, "pod", pod_name, wanted, {"network/net"}));
}

TEST_P(PodTest, AnotherImageReplacesItsContainerAloneAndKeepsTheAddress) {
  const auto made = bring(pod(containers({web(), sleeper("side")})));
  ASSERT_TRUE(made) << said(made);
  const Value before = status();
  const auto changed =
      bring(pod(containers({web(), sleeper("side")}),
                R"(,"images":{"side":"localhost/fettle/web:1"},"labels":{"revision":"2"})"),
            Verb::update);
  ASSERT_TRUE(changed) << said(changed);
  const Value after = status();
  EXPECT_EQ(id_of(before, "web"), id_of(after, "web"));
  EXPECT_NE(id_of(before, "side"), id_of(after, "side"));
  EXPECT_EQ(row(after, "side").text_at("image"), "localhost/fettle/web:1");
  EXPECT_EQ(row(after, "side").integer_at("restartCount", -1), 1);
  EXPECT_EQ(after.text_at("podIP"), before.text_at("podIP"));
  EXPECT_EQ(changed->remote_id, made->remote_id);
  EXPECT_EQ(dict_of(changed->outputs).at("uid"), dict_of(made->outputs).at("uid"));
  EXPECT_EQ(all().size(), 3u);
  // And back: it counts on.
  ASSERT_TRUE(bring(pod(containers({web(), sleeper("side")})), Verb::update));
  EXPECT_EQ(row(status(), "side").integer_at("restartCount", -1), 2);
  EXPECT_EQ(run("side", {"cat", "/proc/1/comm"}), "sleep\n");
  // Recreated, it is another pod.
  const auto anew = bring(pod(containers({web()})), Verb::replace);
  ASSERT_TRUE(anew) << said(anew);
  EXPECT_NE(anew->remote_id, made->remote_id);
  EXPECT_NE(dict_of(anew->outputs).at("uid"), dict_of(made->outputs).at("uid"));
  EXPECT_EQ(row(status(), "web").integer_at("restartCount", -1), 0);
  EXPECT_EQ(all().size(), 2u);
}

TEST_P(PodTest, AnImageThatIsNowhereLeavesWhatRuns) {
  const auto made = bring(pod(containers({web()})));
  ASSERT_TRUE(made) << said(made);
  const Value before = status();
  const std::string nowhere = cat("127.0.0.1:", registry_port(), "/none:1");
  const auto failed =
      bring(pod(containers({web()}), cat(R"(,"images":{"web":")", nowhere, R"("})")), Verb::update);
  ASSERT_FALSE(failed);
  EXPECT_NE(said(failed).find(cat("cannot pull `", nowhere, "`")), std::string::npos)
      << said(failed);
  EXPECT_EQ(id_of(status(), "web"), id_of(before, "web"));
  EXPECT_EQ(status().text_at("phase"), "Running");
  // A command that does not exist: the old container runs again.
  const auto broken = bring(pod(containers({web(R"(,"command":["/none"])")})), Verb::update);
  ASSERT_FALSE(broken);
  EXPECT_NE(said(broken).find("the previous container runs again"), std::string::npos)
      << said(broken);
  EXPECT_EQ(id_of(status(), "web"), id_of(before, "web"));
  EXPECT_EQ(all().size(), 2u);
}

TEST_P(PodTest, VariablesComeFromFieldsConfigMapsAndSecrets) {
  const std::string env = R"json(,"env":[
    {"name":"PLAIN","value":"a"},{"name":"JOINED","value":"$(PLAIN)-$(NONE)-$$(PLAIN)"},
    {"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
    {"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
    {"name":"APP","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}},
    {"name":"MODE","valueFrom":{"configMapKeyRef":{"name":"settings","key":"mode"}}},
    {"name":"WORD","valueFrom":{"secretKeyRef":{"name":"login","key":"word"}}},
    {"name":"MAYBE","valueFrom":{"configMapKeyRef":{"name":"none","key":"x","optional":true}}}],
    "envFrom":[{"prefix":"S_","configMapRef":{"name":"settings"}}])json";
  const std::string configs =
      R"(,"configs":{"ConfigMap/settings":{"mode":"fast"},"Secret/login":{"word":"hush"}})";
  const auto made = bring(pod(containers({sleeper("box", env)}), configs));
  ASSERT_TRUE(made) << said(made);
  const std::string output = run("box", {"env"});
  for (const char* line : {"PLAIN=a\n", "JOINED=a-$(NONE)-$(PLAIN)\n", "POD=web-1\n", "APP=web\n",
                           "MODE=fast\n", "WORD=hush\n", "S_mode=fast\n"})
    EXPECT_NE(output.find(line), output.npos) << line << output;
  EXPECT_NE(output.find(cat("IP=", dict_of(made->outputs).text_at("ip"), "\n")), output.npos)
      << output;
  EXPECT_EQ(output.find("MAYBE"), output.npos);
  const auto missing = bring(pod(containers({sleeper("box", env)})), Verb::replace);
  ASSERT_FALSE(missing);
  EXPECT_NE(said(missing).find("there is no ConfigMap `settings`"), std::string::npos)
      << said(missing);
}

TEST_P(PodTest, VolumesAreSharedFilledAndGoWithThePod) {
  const auto folder = TemporaryDirectory::make();
  const std::string spec = cat(
      R"("volumes":[{"name":"scratch","emptyDir":{}},{"name":"quick","emptyDir":{"medium":"Memory"}},
        {"name":"settings","configMap":{"name":"settings","items":[{"key":"a","path":"in/a.txt"}]}},
        {"name":"word","secret":{"secretName":"login","defaultMode":256}},
        {"name":"fields","downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]}},
        {"name":"machine","hostPath":{"path":")",
      (folder->path() / "made").string(), R"("}},
        {"name":"kept","persistentVolumeClaim":{"claimName":"data"}}],)");
  const std::string mounts = R"(,"volumeMounts":[{"name":"scratch","mountPath":"/scratch"},
    {"name":"quick","mountPath":"/quick"},{"name":"settings","mountPath":"/settings"},
    {"name":"word","mountPath":"/word"},{"name":"fields","mountPath":"/fields"},
    {"name":"machine","mountPath":"/machine"},{"name":"kept","mountPath":"/kept"},
    {"name":"settings","mountPath":"/etc/a.conf","subPath":"in/a.txt"}])";
  const auto wanted = [&](const std::string& text) {
    return pod(cat(spec, containers({sleeper("one", mounts), sleeper("two", mounts)})),
               cat(R"(,"configs":{"ConfigMap/settings":{"a":")", text,
                   R"(","b":"2"},"Secret/login":{"word":"hush"}})"));
  };
  ASSERT_TRUE(world.apply(Verb::create, "claim", "|default/data",
                          json(R"({"name":"data","namespace":"default"})")));
  EXPECT_TRUE(world.observe("claim", "|default/data")->state);
  const auto made = bring(wanted("1"));
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(run("one", {"cat", "/settings/in/a.txt"}), "1");
  EXPECT_EQ(run("one", {"ls", "/settings"}), "in\n");
  EXPECT_EQ(run("one", {"cat", "/etc/a.conf"}), "1");
  EXPECT_EQ(run("two", {"cat", "/word/word"}), "hush");
  EXPECT_EQ(run("two", {"stat", "-c", "%a", "/word/word"}), "400\n");
  EXPECT_EQ(run("two", {"cat", "/fields/labels"}), "app=\"web\"\n");
  for (const char* place : {"scratch", "quick", "machine", "kept"}) {
    run("one", {"sh", "-c", cat("echo ", place, " > /", place, "/x")});
    EXPECT_EQ(run("two", {"cat", cat("/", place, "/x")}), cat(place, "\n"));
  }
  EXPECT_NE(run("one", {"sh", "-c", "echo x > /settings/x"}).find("Read-only"), std::string::npos);
  // Another text is shown at once; nothing is recreated for it.
  const Value before = status();
  ASSERT_TRUE(bring(wanted("3"), Verb::update));
  EXPECT_EQ(run("one", {"cat", "/settings/in/a.txt"}), "3");
  EXPECT_EQ(id_of(before, "one"), id_of(status(), "one"));
  EXPECT_EQ(run("one", {"cat", "/scratch/x"}), "scratch\n");
  ASSERT_TRUE(world.apply(Verb::remove, "pod", pod_name, wanted("3"), {"network/net"}));
  EXPECT_EQ(volumes(), 1u) << "the claim alone is left";
  ASSERT_TRUE(bring(wanted("3")));
  EXPECT_EQ(run("one", {"cat", "/kept/x"}), "kept\n");
  EXPECT_EQ(run("one", {"ls", "/scratch"}), "");
  ASSERT_TRUE(world.apply(Verb::remove, "pod", pod_name, wanted("3"), {"network/net"}));
  ASSERT_TRUE(world.apply(Verb::remove, "claim", "|default/data",
                          json(R"({"name":"data","namespace":"default"})")));
  EXPECT_EQ(volumes(), 0u);
}

TEST_P(PodTest, InitContainersEndBeforeTheOthersBegin) {
  const std::string volumes = R"("volumes":[{"name":"v","emptyDir":{}}],)";
  const std::string mount = R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}])";
  const auto init = [&](const std::string& name, const std::string& line) {
    return cat(R"({"name":")", name, R"(","image":"localhost/fettle/busybox:1",)",
               R"("command":["sh","-c",")", line, R"("])", mount, "}");
  };
  const auto wanted = [&](const std::string& policy, const std::string& second) {
    return pod(cat(volumes, R"("restartPolicy":")", policy, R"(","initContainers":[)",
                   init("first", "echo 1 >> /v/x"), ",", init("second", second), "],",
                   containers({sleeper("box", mount)})));
  };
  const auto made = bring(wanted("Always", "echo 2 >> /v/x"));
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(run("box", {"cat", "/v/x"}), "1\n2\n");
  EXPECT_EQ(row(status(), "first").at("state").at("terminated").integer_at("exitCode", -1), 0);
  EXPECT_TRUE(row(status(), "second").bool_at("ready"));
  EXPECT_EQ(condition(status(), "Initialized").text_at("status"), "True");
  const auto failed = bring(wanted("Never", "echo alas; exit 3"), Verb::replace);
  ASSERT_FALSE(failed);
  EXPECT_NE(said(failed).find("init container `second` of pod `default/web-1` ended with exit "
                              "code 3; its last lines are:\nalas"),
            std::string::npos)
      << said(failed);
}

TEST_P(PodTest, AnInitContainerThatFailsIsSeenWithWhatWaitsForIt) {
  const Value wanted =
      pod(cat(R"("initContainers":[{"name":"first","image":"localhost/fettle/busybox:1",)",
              R"("command":["sh","-c","exit 3"]},{"name":"second",)",
              R"("image":"localhost/fettle/busybox:1"}],)", containers({sleeper("box")})));
  world.pace_limit = 0s;
  ASSERT_FALSE(bring(wanted));
  EXPECT_TRUE(becomes([](const Value& seen) { return row(seen, "first").bool_at("backOff"); }));
  const Value seen = status();
  EXPECT_EQ(seen.text_at("phase"), "Pending");
  EXPECT_EQ(condition(seen, "Initialized").text_at("status"), "False");
  const std::string why(condition(seen, "Ready").text_at("message"));
  EXPECT_TRUE(why.starts_with("init container `first` ")) << why;
  EXPECT_TRUE(row(seen, "second").is_null());
}

TEST_P(PodTest, ContainersOfAHigherLaunchPriorityAreReadyBeforeTheOthersStart) {
  const auto container = [&](const std::string& name, int priority, const std::string& line,
                             const std::string& more) {
    return cat(R"({"name":")", name, R"(","image":"localhost/fettle/busybox:1",)",
               R"("command":["sh","-c",")", line, R"("],"volumeMounts":[{"name":"v",)",
               R"("mountPath":"/v"}],"env":[{"name":"KRUISE_CONTAINER_PRIORITY","value":")",
               priority, R"("}])", more, "}");
  };
  const auto made = bring(
      pod(cat(R"("volumes":[{"name":"v","emptyDir":{}}],)",
              containers({container("low", 5, "echo low >> /v/x; sleep 1000", ""),
                          container("high", 10,
                                    "echo high >> /v/x; sleep 0.3; echo ready >> /v/x; sleep 1000",
                                    R"(,"readinessProbe":{"periodSeconds":0,"exec":{"command":)"
                                    R"(["grep","-q","ready","/v/x"]}})")}))));
  ASSERT_TRUE(made) << said(made);
  EXPECT_TRUE(becomes([](const Value& seen) { return row(seen, "low").bool_at("ready"); }));
  EXPECT_EQ(run("low", {"cat", "/v/x"}), "high\nready\nlow\n");
}

TEST_P(PodTest, ASidecarAmongInitContainersStartsOnce) {
  const std::string mount = R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}])";
  const auto made =
      bring(pod(cat(R"("volumes":[{"name":"v","emptyDir":{}}],"initContainers":[{"name":"side",)",
                    R"("image":"localhost/fettle/busybox:1","restartPolicy":"Always",)",
                    R"("command":["sh","-c","echo side >> /v/x; sleep 1000"])", mount, "}],",
                    containers({sleeper("box", mount)}))));
  ASSERT_TRUE(made) << said(made);
  EXPECT_EQ(run("box", {"cat", "/v/x"}), "side\n");
}

TEST_P(PodTest, ProbesSayWhetherAPodIsReadyAndWhyNot) {
  const auto wanted = [&](const std::string& probe) {
    return pod(containers({web(
        cat(R"(,"ports":[{"name":"http","containerPort":80}],"readinessProbe":{"periodSeconds":0,)",
            probe, "}"))}));
  };
  ASSERT_TRUE(bring(wanted(R"("httpGet":{"path":"/index.html","port":"http"})")));
  EXPECT_TRUE(becomes(
      [](const Value& seen) { return condition(seen, "Ready").text_at("status") == "True"; }));
  ASSERT_TRUE(bring(wanted(R"("httpGet":{"path":"/none","port":80})"), Verb::replace));
  EXPECT_TRUE(becomes([](const Value& seen) {
    const Value ready = condition(seen, "Ready");
    return ready.text_at("status") == "False" &&
           ready.text_at("message") ==
               "container `web`: readinessProbe failed: HTTP status 404 of port 80";
  })) << write_json(status());
  EXPECT_FALSE(row(status(), "web").bool_at("ready"));
  ASSERT_TRUE(bring(wanted(R"("tcpSocket":{"port":81})"), Verb::replace));
  EXPECT_EQ(condition(status(), "Ready").text_at("message"),
            "container `web`: readinessProbe failed: nothing listens on port 81");
  ASSERT_TRUE(
      bring(wanted(R"("exec":{"command":["sh","-c","echo not yet; exit 2"]},"timeoutSeconds":60)"),
            Verb::replace));
  EXPECT_EQ(condition(status(), "Ready").text_at("message"),
            "container `web`: readinessProbe failed: its command ended with exit code 2: not yet");
  // A condition that its owner sets.
  ASSERT_TRUE(bring(pod(containers({web()}), R"(,"conditions":{"InPlaceUpdateReady":"False"})"),
                    Verb::replace));
  EXPECT_EQ(condition(status(), "ContainersReady").text_at("status"), "True");
  EXPECT_EQ(condition(status(), "Ready").text_at("message"),
            "condition `InPlaceUpdateReady` is False");
}

TEST_P(PodTest, HooksAreCalledAfterTheStartAndBeforeTheEnd) {
  const std::string volumes =
      R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"d"}}],)";
  const std::string hooks = R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}],"lifecycle":{
    "postStart":{"exec":{"command":["sh","-c","echo begun >> /v/x"]}},
    "preStop":{"exec":{"command":["sh","-c","echo ending >> /v/x"]}}})";
  const Value claim = json(R"({"name":"d","namespace":"default"})");
  grace_s = 1;
  ASSERT_TRUE(world.apply(Verb::create, "claim", "|default/d", claim));
  const Value wanted = pod(volumes + containers({sleeper("box", hooks)}));
  ASSERT_TRUE(bring(wanted));
  EXPECT_EQ(run("box", {"cat", "/v/x"}), "begun\n");
  ASSERT_TRUE(bring(wanted, Verb::replace));
  EXPECT_EQ(run("box", {"cat", "/v/x"}), "begun\nending\nbegun\n");
  ASSERT_TRUE(world.apply(Verb::remove, "pod", pod_name, wanted, {"network/net"}));
  ASSERT_TRUE(world.apply(Verb::remove, "claim", "|default/d", claim));
}

TEST_P(PodTest, WithoutANetworkItGetsThatOfItsNamespaceWhichGoesWithTheLastPod) {
  const auto both = [&](const std::string& name, Verb verb) {
    return world.apply(
        verb, "pod", cat("n1|shop/", name),
        json(cat(R"({"name":")", name, R"(","namespace":"shop","node":"n1",)",
                 R"("subdomain":"db","template":{"spec":{)",
                 R"("terminationGracePeriodSeconds":0,)", containers({sleeper("box")}), "}}}")));
  };
  const auto networks = [&] {
    size_t count = 0;
    const auto all =
        list_networks(world.engine(), {environment_filter(world.key("", "").environment)}, {});
    for (const NetworkState& state : all.value_or(std::vector<NetworkState>()))
      count += key_in(state.labels) == world.key("network", "n1|shop");
    return count;
  };
  const auto one = both("db-0", Verb::create), two = both("db-1", Verb::create);
  ASSERT_TRUE(one) << said(one);
  ASSERT_TRUE(two) << said(two);
  EXPECT_EQ(networks(), 1u);
  std::string output;
  const std::string_view box = dict_of(one->outputs).at("containers").text_at("box");
  const auto code = run_exec(world.engine(), std::string(box.substr(box.find("://") + 3)),
                             {.command = {"nslookup", "db-1.db"}},
                             [&](OutputStream, std::string_view bytes) {
                               output += bytes;
                               return Status();
                             },
                             {});
  EXPECT_NE(output.find(std::string(dict_of(two->outputs).text_at("ip"))), output.npos) << output;
  EXPECT_TRUE(code);
  ASSERT_TRUE(both("db-0", Verb::remove));
  EXPECT_EQ(networks(), 1u);
  ASSERT_TRUE(both("db-1", Verb::remove));
  EXPECT_EQ(networks(), 0u);
}

TEST_P(PodTest, TheNetworkStaysForAPodThatIsJustBeingMadeAndIsMadeAnewWhenItIsGone) {
  const auto act = [&](const std::string& name, Verb verb) {
    return world.apply(verb, "pod", cat("n1|shop/", name),
                       json(cat(R"({"name":")", name, R"(","namespace":"shop","node":"n1",)",
                                R"("template":{"spec":{"terminationGracePeriodSeconds":0,)",
                                containers({sleeper("box")}), "}}}")));
  };
  // Just before its holder is made.
  const auto meanwhile = [&](const std::function<void()>& interfere) {
    world.before_call = [this, interfere](const EngineCall& call) {
      if (call.path == "/containers/create") {
        world.before_call = {};
        interfere();
      }
    };
  };
  ASSERT_TRUE(act("a", Verb::create));
  meanwhile([&] { EXPECT_TRUE(act("a", Verb::remove)); });
  const auto beside = act("b", Verb::create);
  ASSERT_TRUE(beside) << said(beside);
  ASSERT_TRUE(act("b", Verb::remove));
  meanwhile([&] {
    EXPECT_TRUE(remove_network(world.engine(), network_name(world.key("network", "n1|shop")), {}));
  });
  const auto anew = act("c", Verb::create);
  ASSERT_TRUE(anew) << said(anew);
  ASSERT_TRUE(act("c", Verb::remove));
}

TEST_P(PodTest, LimitsChangeWhileAContainerRuns) {
  const auto wanted = [&](const char* memory) {
    return pod(containers({sleeper("box", cat(R"(,"resources":{"limits":{"memory":")", memory,
                                              R"(","cpu":"500m"}})"))}),
               R"(,"resize":true)");
  };
  const auto made = bring(wanted("64Mi"));
  ASSERT_TRUE(made) << said(made);
  const std::string limit = run("box", {"sh", "-c",
                                        "cat /sys/fs/cgroup/memory/memory.limit_in_bytes "
                                        "/sys/fs/cgroup/memory.max 2>/dev/null"});
  EXPECT_EQ(limit, cat(64 << 20, "\n"));
  const std::string before = id_of(status(), "box");
  ASSERT_TRUE(bring(wanted("96Mi"), Verb::update));
  EXPECT_EQ(run("box", {"sh", "-c",
                        "cat /sys/fs/cgroup/memory/memory.limit_in_bytes "
                        "/sys/fs/cgroup/memory.max 2>/dev/null"}),
            cat(96 << 20, "\n"));
  EXPECT_EQ(id_of(status(), "box"), before);
}

TEST_P(PodTest, WhatEndsIsSeenAndRestartedAsThePolicySays) {
  const auto wanted = [&](const char* policy, const char* line) {
    return pod(
        cat(R"("restartPolicy":")", policy, R"(",)",
            containers({sleeper("x"), cat(R"({"name":"job","image":"localhost/fettle/busybox:1",)",
                                          R"("command":["sh","-c",")", line, R"("]})")})));
  };
  ASSERT_TRUE(bring(wanted("Never", "exit 7")));
  EXPECT_TRUE(becomes([](const Value& seen) {
    return row(seen, "job").at("state").at("terminated").integer_at("exitCode", -1) == 7;
  })) << write_json(status());
  EXPECT_EQ(condition(status(), "Ready").text_at("status"), "False");
  ASSERT_TRUE(bring(wanted("Always", "exit 7"), Verb::replace));
  EXPECT_TRUE(becomes([](const Value& seen) {
    return row(seen, "job").integer_at("restartCount") > 0;
  })) << write_json(status());
}

TEST_P(PodTest, AHolderThatEndedIsStartedAndJoinedAgain) {
  const Value wanted = pod(containers({web()}));
  const auto made = bring(wanted);
  ASSERT_TRUE(made) << said(made);
  ASSERT_TRUE(stop_container(world.engine(), made->remote_id, 0s, {}));
  EXPECT_TRUE(row(status(), "web").is_null()) << "it cannot be reached";
  const auto again = bring(wanted, Verb::update);
  ASSERT_TRUE(again) << said(again);
  EXPECT_EQ(again->remote_id, made->remote_id);
  EXPECT_EQ(dict_of(again->outputs).at("ip"), dict_of(made->outputs).at("ip"));
  EXPECT_TRUE(becomes([&](const Value& seen) {
    return seen.text_at("phase") == "Running" &&
           run("web", {"wget", "-qO-", cat("http://", dict_of(made->outputs).text_at("ip"))}) ==
               "fettle\n";
  }));
  // Stopped and started by hand.
  ASSERT_TRUE(world.apply(Verb::stop, "pod", pod_name, wanted, {"network/net"}));
  EXPECT_FALSE(row(status(), "web").at("state").at("terminated").is_null());
  ASSERT_TRUE(bring(wanted, Verb::start));
  EXPECT_TRUE(row(status(), "web").at("state").at("running").is_dict());
}

/// The process dies at its first call, at its second, …; the next one brings the pod to the same
/// end.
TEST_P(PodTest, APodThatIsCutOffIsNotReadyAndGetsAnotherHolder) {
  const Value wanted = pod(containers({web()}));
  ASSERT_TRUE(bring(wanted));
  const std::string network(dict_of(world.known("network", "net")->outputs).text_at("name"));
  for (const bool runs : {true, false}) {
    const std::string holder = world.known("pod", pod_name)->remote_id;
    if (!runs) {
      ASSERT_TRUE(stop_container(world.engine(), holder, 0s, {}));
    }
    const auto cut =
        world.engine().ask({.method = "POST",
                            .path = cat("/networks/", network, "/disconnect"),
                            .body = Value::dict({{"Container", holder}, {"Force", true}})},
                           {});
    ASSERT_TRUE(cut && cut->ok()) << (cut ? cut->message() : "");
    if (runs) {
      EXPECT_EQ(condition(status(), "Ready").text_at("message"), "it is cut off from its network");
      EXPECT_TRUE(status().bool_at("cutOff"));
    }
    const auto again = bring(wanted, Verb::update);
    ASSERT_TRUE(again) << said(again);
    EXPECT_NE(again->remote_id, holder);
    EXPECT_FALSE(status().bool_at("cutOff"));
    EXPECT_TRUE(
        becomes([](const Value& s) { return condition(s, "Ready").text_at("status") == "True"; }));
    EXPECT_EQ(run("web", {"cat", "/www/index.html"}), "fettle\n");
  }
}

TEST_P(PodTest, AnAddressThatSomebodyHasMeanwhileGivesWay) {
  const Value wanted = pod(containers({web()}));
  ASSERT_TRUE(bring(wanted));
  const RecordPointer before = world.known("pod", pod_name);
  const std::string address(dict_of(before->outputs).text_at("ip"));
  const std::string network(dict_of(world.known("network", "net")->outputs).text_at("name"));
  ASSERT_TRUE(stop_container(world.engine(), before->remote_id, 0s, {}));
  const auto other =
      create_container(world.engine(), cat("taker-of-pods-", to_string(GetParam())),
                       json(cat(R"({"Image":"localhost/fettle/busybox:1","Cmd":["sleep","1000"],)",
                                R"("HostConfig":{"NetworkMode":")", network,
                                R"("},"NetworkingConfig":{"EndpointsConfig":{")", network,
                                R"(":{"IPAMConfig":{"IPv4Address":")", address, R"("}}}}})")),
                       {});
  ASSERT_TRUE(other) << to_string(other.error());
  const Status taken = start_container(world.engine(), other->id, {});
  EXPECT_TRUE(taken) << to_string(taken.error());
  const auto again = bring(wanted, Verb::update);
  EXPECT_TRUE(again) << said(again);
  if (again) {
    EXPECT_NE(dict_of(again->outputs).text_at("ip"), address);
    EXPECT_EQ(run("web", {"cat", "/www/index.html"}), "fettle\n");
  }
  EXPECT_TRUE(remove_container(world.engine(), other->id, {}));
}

TEST_P(PodTest, ACrashAnywhereIsRecoveredFrom) {
  const std::string volumes = R"("volumes":[{"name":"v","configMap":{"name":"c"}}],)";
  const std::string more = R"(,"configs":{"ConfigMap/c":{"a":"1"}})";
  const std::string box = sleeper("box", R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}])");
  const Value first = pod(cat(volumes, containers({box, sleeper("other")})), more);
  const Value second = pod(cat(volumes, containers({box, sleeper("other")})),
                           cat(more, R"(,"images":{"other":"localhost/fettle/web:1"})"));
  ASSERT_TRUE(ensure_pause_image(world.engine(), {}));
  const auto check = [&](const Result<Record>& result, const std::string& image, size_t at) {
    ASSERT_TRUE(result) << at << ": " << said(result);
    const auto found = all();
    EXPECT_EQ(found.size(), 3u) << at;
    EXPECT_TRUE(std::ranges::all_of(found, &ContainerState::runs)) << at;
    EXPECT_EQ(row(status(), "other").text_at("image"), image) << at;
    EXPECT_EQ(run("box", {"cat", "/v/a"}), "1") << at;
  };
  bool whole = false;
  for (size_t at = 1; !whole && at < 40; ++at) {
    world.calls.clear();
    world.dies_at = at;
    whole = bring(first).has_value();
    world.dies_at = 0;
    world.restart();
    check(bring(first, whole ? Verb::update : Verb::create), "localhost/fettle/busybox:1", at);
    ASSERT_TRUE(world.apply(Verb::remove, "pod", pod_name, first, {"network/net"}));
    ASSERT_TRUE(all().empty());
  }
  EXPECT_TRUE(whole);
  ASSERT_TRUE(bring(first));
  whole = false;
  int64_t restarts = 0;
  for (size_t at = 1; !whole && at < 40; ++at) {
    const std::string kept = id_of(status(), "box");
    world.calls.clear();
    world.dies_at = at;
    whole = bring(second, Verb::update).has_value();
    world.dies_at = 0;
    world.restart();
    check(bring(second, Verb::update), "localhost/fettle/web:1", at);
    EXPECT_EQ(id_of(status(), "box"), kept) << at << ": what did not change is left alone";
    ASSERT_TRUE(bring(first, Verb::update)) << at;
    restarts += 2;
    EXPECT_EQ(row(status(), "other").integer_at("restartCount"), restarts) << at;
  }
  EXPECT_TRUE(whole);
}

INSTANTIATE_TEST_SUITE_P(Engines, PodTest,
                         testing::Values(TestEngine::Sort::podman, TestEngine::Sort::docker),
                         [](const auto& sort) { return to_string(sort.param); });

}  // namespace
}  // namespace fettle
