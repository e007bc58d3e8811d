/// The page's server over real sockets, with a real store and packages on an engine that remembers.

#include "server/server.h"

#include <gtest/gtest.h>

#include "server/log_lines.h"
#include "server/routes.h"
#include "tests/fixtures/server_fixture.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

TEST_F(ServerTest, TheKeyCountsOnceAndGivesACookieThatNoScriptReads) {
  serve({.landing = "/env/e"});
  const std::string wrong = key_target().substr(0, key_target().size() - 1) + "x";
  EXPECT_EQ(status_of(sent(request(wrong))), "403");
  const std::string reply = sent(request(key_target(), "Sec-Fetch-Site: cross-site\r\n"));
  EXPECT_EQ(status_of(reply), "200") << reply;
  EXPECT_NE(reply.find("; Path=/; HttpOnly; SameSite=Strict\r\n"), std::string::npos) << reply;
  const size_t place = reply.find("content=\"0; url=/#key=");
  ASSERT_NE(place, std::string::npos) << reply;
  EXPECT_EQ(reply.substr(place + 22 + 64), "/env/e\">");
  const std::string again = sent(request(key_target()));
  EXPECT_EQ(status_of(again), "403");
  EXPECT_EQ(again.find("Set-Cookie"), std::string::npos);
  EXPECT_EQ(server_->address().size(), cat("http://", host_, "/?key=").size() + 64);
}

TEST_F(ServerTest, NothingIsToldWithoutTheCookie) {
  serve();
  enter();
  const std::string own = cookie_;
  const std::string forged = own.substr(0, own.size() - 1) + (own.ends_with('0') ? "1" : "0");
  for (const std::string& cookie :
       {std::string(), forged, "x=" + own.substr(own.find('=') + 1), own + "0"}) {
    cookie_ = cookie;
    EXPECT_EQ(status_of(told("/")), "401") << cookie;
    EXPECT_EQ(status_of(told("/assets/main.js")), "401");
    for (const Route& route : routes())
      EXPECT_EQ(status_of(told(route.pattern)), "401") << route.pattern;
  }
  cookie_ = cat("other=1; ", own);
  EXPECT_EQ(status_of(told("/")), "200");
}

TEST_F(ServerTest, AnotherNameForThisMachineIsRefused) {
  serve();
  enter();
  for (const std::string& host :
       {std::string("evil.example"), cat("localhost:", server_->port()), std::string("127.0.0.1"),
        cat(host_, ".evil.example"), cat("evil.example:", server_->port()), std::string()})
    EXPECT_EQ(status_of(sent(cat("GET / HTTP/1.1\r\nHost: ", host, "\r\nCookie: ", cookie_,
                                 "\r\nConnection: close\r\n\r\n"))),
              "421")
        << host;
  EXPECT_EQ(status_of(sent(cat("GET / HTTP/1.0\r\nCookie: ", cookie_, "\r\n\r\n"))), "421");
  EXPECT_NE(status_of(told("/", cat("Host: ", host_, "\r\n"))), "200");
}

TEST_F(ServerTest, AnotherPageCannotAsk) {
  serve();
  enter();
  const std::string other = "http://evil.example";
  for (const std::string& fields :
       {std::string("Sec-Fetch-Site: cross-site\r\n"), std::string("Sec-Fetch-Site: same-site\r\n"),
        cat("Origin: ", other, "\r\n"), std::string("Origin: null\r\n"),
        cat("Origin: http://127.0.0.1:", server_->port() + 1, "\r\n"),
        cat("Sec-Fetch-Site: same-origin\r\nOrigin: ", other, "\r\n")})
    for (const char* target : {"/", "/api/environments", "/api/stream"})
      EXPECT_EQ(status_of(told(target, fields)), "403") << target << " " << fields;
  EXPECT_EQ(status_of(told("/", "Sec-Fetch-Site: none\r\n")), "200");
  EXPECT_EQ(
      status_of(told("/", cat("Sec-Fetch-Site: same-origin\r\nOrigin: http://", host_, "\r\n"))),
      "200");
  EXPECT_EQ(status_of(told("/", cat("Origin: http://", host_, "\r\nOrigin: ", other, "\r\n"))),
            "400");
  EXPECT_EQ(told("/").find("Access-Control-"), std::string::npos);
}

TEST_F(ServerTest, ItKnowsGetAlone) {
  serve();
  enter();
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}) {
    const std::string reply = told("/api/environments", "", method);
    EXPECT_EQ(status_of(reply), "405") << method;
    EXPECT_NE(reply.find("\r\nAllow: GET\r\n"), std::string::npos) << reply;
  }
  EXPECT_EQ(status_of(told("/api/environments",
                           "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")),
            "415");
}

TEST_F(ServerTest, TricksWithPathsAreRefused) {
  serve();
  enter();
  for (const char* target :
       {"/../etc/passwd", "/api/%2e%2e/x", "/api//environments", "/api/environments/",
        "/api/environments/a%2fb", "/api/environments/a%5cb", "/api/environments/a%00b",
        "/api/environments/%0d%0aX", "/api/environments/%", "/api/environments/%4", "/%zz",
        "/api/environments/%ff", "/api/events?text=a&text=b", "/api/environments/%2e", "/assets/"})
    EXPECT_EQ(status_of(told(target)), "400") << target;
  for (const char* target : {"http://evil.example/", "evil.example:80", "*"})
    EXPECT_EQ(status_of(told(target)), "400") << target;
  for (const char* target : {"/nothing", "/assets", "/assets/main.js.map", "/API/environments",
                             "/api/nothing", "/api/environments/e/graph/x"})
    EXPECT_EQ(status_of(told(target)), "404") << target;
  EXPECT_EQ(status_of(told("/assets/main.js?x=1")), "200");
}

TEST_F(ServerTest, WhatCanBeReadInTwoWaysOrIsNoRequestIsRefused) {
  serve();
  enter();
  const std::string head = cat("GET / HTTP/1.1\r\nHost: ", host_, "\r\nCookie: ", cookie_, "\r\n");
  for (const std::string& bytes :
       {cat(head, "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        cat(head, "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
        cat(head, "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde"),
        cat(head, "Content-Length: -1\r\n\r\n"), cat(head, "Content-Length: 0x4\r\n\r\nabcd"),
        cat(head, "A B: c\r\n\r\n"), cat(head, "A : c\r\n\r\n"), cat(head, ": c\r\n\r\n"),
        std::string("hello\r\n\r\n"), std::string("GET / HTTP/2.0\r\n\r\n"),
        std::string("GET  / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01\x02\r\n\r\n")})
    EXPECT_EQ(status_of(sent(bytes)), "400") << bytes;
  EXPECT_EQ(status_of(sent(cat(head, "A: ", std::string(20'000, 'a'), "\r\n\r\n"))), "431");
  EXPECT_EQ(status_of(sent(cat("GET /", std::string(20'000, 'a'), " HTTP/1.1\r\n\r\n"))), "431");
  EXPECT_EQ(status_of(sent(cat(head, "Content-Length: 1048577\r\n\r\n"))), "413");
  EXPECT_EQ(status_of(told("/")), "200");
}

TEST_F(ServerTest, ASlowRequestEnds) {
  serve({.listener = {.request_limit = 100ms}});
  const Wire silent(server_->port()), slow(server_->port());
  EXPECT_TRUE(slow.say("GET / HT"));
  EXPECT_EQ(silent.rest(), "");
  EXPECT_EQ(slow.rest(), "");
}

TEST_F(ServerTest, ManyConnectionsPushOutThoseThatIdle) {
  serve({.listener = {.connections = 4}});
  enter();
  std::list<Wire> idle;
  for (int i = 0; i < 8; ++i)
    idle.emplace_back(server_->port());
  EXPECT_EQ(status_of(told("/")), "200");
  EXPECT_EQ(idle.front().rest(), "");
}

TEST_F(ServerTest, EveryReplySaysWhatABrowserMustNotDo) {
  serve();
  const std::string refused = told("/");
  enter();
  for (const std::string& reply : {refused, told("/"), told("/api/environments"), told("/nothing"),
                                   told("/", "", "POST"), sent("hello\r\n\r\n")})
    for (const auto& [name, value] : safety_fields())
      EXPECT_NE(reply.find(cat("\r\n", name, ": ", value, "\r\n")), std::string::npos)
          << name << " in " << reply;
  const std::string& policy = safety_fields().front().second;
  EXPECT_TRUE(policy.starts_with("default-src 'none'"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST_F(ServerTest, ThePageIsServedAsItWasPacked) {
  serve();
  enter();
  const std::string reply = told("/assets/main.js");
  EXPECT_NE(reply.find("\r\nContent-Type: text/javascript; charset=utf-8\r\n"), std::string::npos);
  EXPECT_NE(reply.find("\r\nContent-Encoding: gzip\r\n"), std::string::npos) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\npacked code"));
}

TEST_F(ServerTest, SeveralRequestsShareAConnection) {
  serve();
  enter();
  const Wire wire(server_->port());
  const std::string one =
      cat("GET /api/environments HTTP/1.1\r\nHost: ", host_, "\r\nCookie: ", cookie_, "\r\n\r\n");
  EXPECT_TRUE(wire.say(one + one));
  EXPECT_TRUE(wire.say(request("/", cat("Cookie: ", cookie_, "\r\n"))));
  const std::string all = wire.rest();
  size_t replies = 0;
  for (size_t at = all.find("HTTP/1.1 200 "); at != all.npos;
       at = all.find("HTTP/1.1 200 ", at + 1))
    ++replies;
  EXPECT_EQ(replies, 3u) << all;
}

TEST_F(ServerTest, TellsWhatCommandsTell) {
  write("hello.txt", "hi");
  ASSERT_EQ(run(add("web") + exec("web", "first") +
                "  plan.upload_files(src = \"./hello.txt\", name = \"page\")\n"),
            "RRR");
  serve();
  enter();
  const Value all = asked("/api/environments");
  ASSERT_EQ(all.items().size(), 1u);
  EXPECT_EQ(all.items()[0].text_at("name"), "e");
  EXPECT_EQ(all.items()[0].text_at("status"), "running");
  const Value one = asked("/api/environments/e");
  EXPECT_EQ(one.integer_at("schema"), 1);
  EXPECT_EQ(one.at("services").items()[0].text_at("name"), "web");
  const Value artifact = asked("/api/environments/e/artifacts/page");
  ASSERT_EQ(artifact.items().size(), 1u);
  EXPECT_EQ(artifact.items()[0].text_at("path"), "hello.txt");
  EXPECT_EQ(artifact.items()[0].integer_at("size"), 2);
  const Value file = asked("/api/environments/e/artifacts/page/file?path=hello.txt");
  EXPECT_EQ(file.text_at("text"), "hi");
  const Value graph = asked("/api/environments/e/graph");
  std::map<std::string, size_t> places;
  const std::span<const Value> nodes = graph.at("nodes").items();
  for (size_t i = 0; i < nodes.size(); ++i) {
    places[std::string(nodes[i].text_at("id"))] = i;
    EXPECT_EQ(nodes[i].text_at("state"), "done");
  }
  ASSERT_TRUE(places.contains("service/web"));
  for (const Value& edge : graph.at("edges").items())
    EXPECT_GT(nodes[static_cast<size_t>(edge.integer_at("from"))].integer_at("rank"),
              nodes[static_cast<size_t>(edge.integer_at("to"))].integer_at("rank"));
  const Value resource = asked("/api/environments/e/resource?key=service/web");
  EXPECT_EQ(resource.at("record").text_at("key"), "service/web");
  EXPECT_NE(resource.at("why").at("because").items()[0].text().view().find("service/web"),
            std::string::npos);
  const Value runs = asked("/api/environments/e/runs");
  ASSERT_EQ(runs.at("runs").items().size(), 1u);
  const int64_t number = runs.at("runs").items()[0].integer_at("run");
  EXPECT_EQ(runs.at("runs").items()[0].text_at("outcome"), "everything is as wanted");
  const Value past = asked(cat("/api/environments/e/runs/", number));
  EXPECT_EQ(past.at("under_way"), Value(false));
  const Value acts = past.at("acts");
  EXPECT_TRUE(std::ranges::any_of(acts.items(), [](const Value& act) {
    return act.text_at("key") == "service/web" && act.text_at("outcome") == "done";
  }));
  EXPECT_EQ(asked("/api/environments/e/versions").items().size(), 0u);
  EXPECT_EQ(asked("/api/environments/e/pending").items().size(), 0u);
  EXPECT_EQ(asked("/api/environments/e/fleet").at("pods").items().size(), 0u);
}

TEST_F(ServerTest, ARunThatWasKilledIsNotUnderWayWhileAnotherOneIs) {
  const auto edit = home_.edit("e");
  Environment environment;
  environment.name = "e";
  ASSERT_TRUE(edit->put_environment(environment));
  const auto begin_run = [&] {
    Event event;
    event.environment = "e";
    event.type = EventType::run_started;
    const Change change{Change::event, {}, nullptr, std::move(event)};
    ASSERT_TRUE(edit->write(std::span(&change, 1)));
  };
  begin_run();
  serve();
  enter();
  const auto is_under_way = [&](uint64_t run) {
    return asked(cat("/api/environments/e/runs/", run)).bool_at("under_way");
  };
  const uint64_t killed = place_.store->events("e", 0, 10)->back().sequence;
  EXPECT_TRUE(is_under_way(killed));
  begin_run();
  EXPECT_FALSE(is_under_way(killed));
  EXPECT_TRUE(is_under_way(place_.store->events("e", 0, 10)->back().sequence));
}

TEST_F(ServerTest, WhatIsNotThereIsAnErrorOfItsOwn) {
  ASSERT_EQ(run(add("web")), "R");
  serve();
  enter();
  for (const auto& [target, status] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/api/environments/nope", "404"},
           {"/api/environments/-", "400"},
           {"/api/environments/e/graph?group=nope", "404"},
           {"/api/environments/e/graph?grup=x", "400"},
           {"/api/environments/e/resource?key=service/nope", "404"},
           {"/api/environments/e/resource", "404"},
           {"/api/environments/e/runs/99", "404"},
           {"/api/environments/e/runs/x", "400"},
           {"/api/environments/e/artifacts/nope", "404"},
           {"/api/environments/e/artifacts/nope/file?path=x", "404"},
           {"/api/environments/e/services/nope/terminal", "404"},
           {"/api/events?before=-1", "400"},
           {"/api/stream?after=x", "400"},
           {"/api/stream?other=1", "400"}}) {
    const std::string reply = told(target);
    EXPECT_EQ(status_of(reply), status) << target << ": " << reply;
    const Value document = document_in(reply);
    EXPECT_FALSE(document.bool_at("success", true));
    EXPECT_FALSE(document.at("error").text_at("message").empty()) << reply;
  }
  EXPECT_NE(told("/api/environments/e/graph?grup=x").find("did you mean `group`"),
            std::string::npos);
}

TEST_F(ServerTest, AnEnvironmentThatOnlyAnEngineKnowsIsNotTakenOver) {
  serve();
  enter();
  EXPECT_EQ(status_of(told("/api/environments/found")), "404");
  EXPECT_EQ(place_.store->environments()->size(), 0u);
}

TEST_F(ServerTest, SecretsAreHidden) {
  request_.arguments = "{\"db_password\": \"hunter2-and-more\"}";
  write("script.star",
        "def run(plan, db_password):\n  plan.add_service(\"db\", ServiceConfig(image = \"a\", "
        "env_vars = {\"PASSWORD\": db_password, \"URL\": \"x://\" + db_password}))\n"
        "  plan.exec(\"db\", ExecRecipe(command = [\"login\", db_password]))\n");
  request_.package = folder_ + "/script.star";
  ASSERT_EQ(run(), "RR");
  serve();
  enter();
  std::string all = told("/api/environments/e/graph") + told("/api/environments/e") +
                    told("/api/environments/e/runs") + told("/api/events");
  const Value graph = document_in(told("/api/environments/e/graph"));
  for (const Value& node : graph.at("nodes").items())
    all += told(cat("/api/environments/e/resource?key=", node.text_at("id")));
  const Wire stream(server_->port());
  EXPECT_TRUE(stream.say(request("/api/stream?after=0", cat("Cookie: ", cookie_, "\r\n"))));
  all += stream.until("run_finished");
  EXPECT_EQ(all.find("hunter2"), std::string::npos);
  EXPECT_NE(all.find("********"), std::string::npos);
}

/// The numbers of the events in a part of a stream.
std::vector<int64_t> numbers_in(const std::string& stream) {
  std::vector<int64_t> numbers;
  for (const std::string_view line : split(stream, '\n'))
    if (line.starts_with("id: "))
      numbers.push_back(std::atoll(std::string(line.substr(4)).c_str()));
  return numbers;
}

TEST_F(ServerTest, EventsAreToldAsTheyHappenAndFromWhereAViewerWas) {
  ASSERT_EQ(run(add("web")), "R");
  serve();
  enter();
  const std::string with_cookie = cat("Cookie: ", cookie_, "\r\n");
  const Wire stream(server_->port());
  EXPECT_TRUE(stream.say(request("/api/stream?environment=e", with_cookie)));
  const std::string first = stream.until("run_finished");
  EXPECT_NE(first.find("Content-Type: text/event-stream\r\n"), std::string::npos) << first;
  EXPECT_NE(first.find("\"key\":\"service/web\""), std::string::npos) << first;
  const std::vector<int64_t> before = numbers_in(first);
  ASSERT_GT(before.size(), 3u);
  ASSERT_EQ(run(add("web") + add("db")), "SR");
  const std::string second = stream.until("run_finished");
  EXPECT_NE(second.find("\"key\":\"service/db\""), std::string::npos) << second;
  EXPECT_EQ(numbers_in(second).front(), before.back() + 1);
  const Wire again(server_->port());
  EXPECT_TRUE(again.say(
      request("/api/stream?after=0", cat(with_cookie, "Last-Event-ID: ", before.back(), "\r\n"))));
  EXPECT_EQ(numbers_in(again.until("run_finished")), numbers_in(second));
}

TEST_F(ServerTest, AViewerThatLagsIsToldAndGetsAll) {
  ASSERT_EQ(run(add("web")), "R");
  const auto edit = home_.edit("e");
  for (int i = 0; i < 1'200; ++i) {
    Event event;
    event.environment = "e";
    event.text = std::string(2'000, 'x');
    const Change change{Change::event, {}, nullptr, std::move(event)};
    ASSERT_TRUE(edit->write(std::span(&change, 1)));
  }
  serve();
  enter();
  const Wire stream(server_->port());
  EXPECT_TRUE(stream.say(request("/api/stream", cat("Cookie: ", cookie_, "\r\n"))));
  EXPECT_EQ(status_of(told("/")), "200");  // others are served meanwhile
  const std::vector<Event> all = *place_.store->events("e", 0, 10'000);
  const std::string heard = stream.until(cat("id: ", all.back().sequence, "\n"));
  const std::vector<int64_t> numbers = numbers_in(heard);
  ASSERT_EQ(numbers.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(static_cast<uint64_t>(numbers[i]), all[i].sequence);
  EXPECT_NE(heard.find("event: behind\n"), std::string::npos);
}

TEST_F(ServerTest, EndsWithTheLastViewer) {
  serve({.linger = 1s});  // for the viewer to come
  enter();
  {
    const Wire viewer(server_->port());
    EXPECT_TRUE(viewer.say(request("/api/stream", cat("Cookie: ", cookie_, "\r\n"))));
    viewer.until("retry:");
  }
  thread_.join();  // hangs if it does not end by itself
  EXPECT_FALSE(thread_.joinable());
}

TEST_F(ServerTest, EndsIfNobodyComes) {
  serve({.patience = 0s});
  thread_.join();  // hangs if it does not end by itself
  EXPECT_FALSE(thread_.joinable());
}

TEST_F(ServerTest, WhoeverIsGivenAnotherAddressHasTimeToOpenIt) {
  serve({.linger = 1s});
  enter();
  const std::string where = server_->address_of_another("");
  const std::string reply = sent(request(where.substr(where.find("/?another="))));
  ASSERT_EQ(status_of(reply), "200") << reply;
  EXPECT_EQ(status_of(told("/")), "200");  // somebody else looks, and leaves
  std::this_thread::sleep_for(2500ms);     // it looks around each second
  EXPECT_EQ(status_of(sent(request(reply.substr(reply.find("/?key="))))), "200");
  thread_.join();  // hangs if it does not end by itself
  EXPECT_FALSE(thread_.joinable());
}

TEST_F(ServerTest, APortThatIsTakenIsSaid) {
  serve();
  const auto second = WebServer::open(served_, {.port = server_->port()}, files_of_test);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(cat("`", host_, "`")), std::string::npos);
}

TEST_F(ServerTest, AProgramWithoutAPageSaysHowToGetIt) {
  const auto none = WebServer::open(place_, {}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::world);
  EXPECT_NE(none.error().message.find("npm"), std::string::npos);
}

TEST(LogLines, AreWholeInWhateverPiecesTheyCome) {
  LogLines lines("web");
  ASSERT_TRUE(lines.take(OutputStream::out, "2026-01-01T00:00:00Z fir"));
  ASSERT_TRUE(lines.take(OutputStream::errors, "2026-01-01T00:00:01Z oops\n"));
  ASSERT_TRUE(lines.take(OutputStream::out, "st\n2026-01-01T00:00:02Z a\x1b[31m\nlast"));
  ASSERT_TRUE(lines.take(OutputStream::errors, "T " + std::string(1'000'000, 'x')));
  const std::vector<Value> all = lines.finish();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].text_at("text"), "oops");
  EXPECT_EQ(all[0].text_at("stream"), "stderr");
  EXPECT_EQ(all[1].text_at("text"), "first");
  EXPECT_EQ(all[1].text_at("time"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(all[2].text_at("text"), "a\\x1b[31m");
  EXPECT_EQ(all[3].text_at("text"), "");
  EXPECT_EQ(all[3].text_at("time"), "last");
  EXPECT_EQ(all[4].text_at("text").size(), 65'534u);
}

TEST(WebRoutes, EachHasAPatternOfItsOwnAndASummary) {
  std::set<std::string_view> patterns;
  for (const Route& route : routes()) {
    EXPECT_EQ(route.method, "GET");
    EXPECT_TRUE(route.pattern.starts_with("/api/")) << route.pattern;
    EXPECT_TRUE(patterns.insert(route.pattern).second) << route.pattern;
    EXPECT_FALSE(route.summary.empty()) << route.pattern;
  }
}

}  // namespace
}  // namespace fettle
