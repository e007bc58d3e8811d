/// Agents at a server of commands, over real sockets. Their engine is a process that answers.

#include "remote/agents.h"

#include "remote/audit_log.h"
#include "remote/server_line.h"
#include "tests/fixtures/agents_fixture.h"
#include "tests/fixtures/certificates.h"

namespace fettle {
namespace {

TEST_F(AgentsTest, ItsEngineIsReachedByASocketOfTheOwnerAlone) {
  serve();
  EXPECT_NE(why_not("b").find("no agent has ever come to a server of `"), std::string::npos);
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const std::string path = path_of("b");
  struct stat about{};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat(Path(path).parent_path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
  EXPECT_EQ(asked(path, "a question"), "heard a question");
  const std::string acts = *socket_of_agent(home_.path(), "b", StreamGoal::acts);
  ASSERT_EQ(stat(acts.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_EQ(
      asked(acts, "an act"),
      packed(FrameType::error,
             R"({"message":"the agent `b` does not act on its machine: it allows only engine"})"));
  const std::string page(3'000'000, 'x');
  EXPECT_EQ(asked(path, page).size(), page.size() + 6);
  const std::vector<AgentView> all = agents_of(home_.path());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].is_connected);
  EXPECT_EQ(all[0].who.engine, "an engine of tests");
  EXPECT_EQ(all[0].who.token, "serve");
  EXPECT_TRUE(all[0].who.from.starts_with("127.0.0.1:"));
  EXPECT_EQ(said_by_agent(), cat("connected to `", server_.url,
                                 "` as the agent `b`: there, `agent://b` is an engine of tests\n"));
  const std::vector<AuditEntry> audit = *audit_log(home_.path()).all();
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0].command, "fettle agent --name b");
  EXPECT_EQ(audit[0].token, "serve");
  EXPECT_FALSE(audit[0].code);
}

TEST_F(AgentsTest, OneThatWasKilledIsGoneAndComesAgain) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const Descriptor open = connected_to(path_of("b"));
  end(std::exchange(agent_, -1), SIGKILL);
  EXPECT_EQ(all_of(open.get()), "") << "its streams end";
  ASSERT_TRUE(has_gone("b"));
  const std::string gone = why_not("b");
  EXPECT_TRUE(gone.starts_with("the agent `b` is not connected: it has been gone since 20"))
      << gone;
  EXPECT_TRUE(gone.ends_with(" (the connection was lost); no other one is")) << gone;
  ASSERT_TRUE(comes([&] { return audit_log(home_.path()).all()->back().code.has_value(); }));
  other_ = begin_agent("c");
  ASSERT_TRUE(has_come("c"));
  EXPECT_TRUE(why_not("b").ends_with("; connected is `c`"));
  EXPECT_EQ(why_not("nobody"),
            "the agent `nobody` is not connected and never was; connected is `c`");
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(asked(path_of("b"), "again"), "heard again");
}

TEST_F(AgentsTest, ComesAgainToAServerThatWasKilledAndSaysSoOnce) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(comes([&] { return !said_by_agent().empty(); }));
  kill_all();
  ASSERT_TRUE(has_gone("b"));
  EXPECT_TRUE(file_exists(home_.path() / "serve/agents/b.sock")) << "nobody took it away";
  usleep(500'000);
  serve();
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(asked(path_of("b"), "again"), "heard again");
  // It tries more often than it says something. Each try may fail in another way, as when the server
  // is killed while it accepts one.
  const std::string told = said_by_agent();
  std::vector<std::string_view> lines = split(trim(told), '\n');
  EXPECT_TRUE(lines.front().starts_with("connected to ")) << told;
  EXPECT_TRUE(lines.back().starts_with("connected to ")) << told;
  lines = {lines.begin() + 1, lines.end() - 1};
  EXPECT_FALSE(lines.empty()) << told;
  for (const std::string_view line : lines) {
    EXPECT_TRUE(line.ends_with("; trying again until it works")) << told;
    EXPECT_EQ(std::ranges::count(lines, line), 1) << told;
  }
}

TEST_F(AgentsTest, AServerThatEndsTakesItsAgentsLast) {
  serve({}, [](const CommandRequest& request, const std::string&) {
    signal(SIGTERM, SIG_IGN);
    say("waiting");
    while (!file_exists(request.words[1]))
      usleep(5'000);
    return 0;
  });
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  Client finishing(command({"acts", flag()}));
  finishing.await("waiting");
  kill(process_, SIGTERM);
  ASSERT_TRUE(
      comes([&] { return said().find("finishing running commands") != std::string::npos; }));
  EXPECT_EQ(asked(socket_of("b").value_or(""), "still"), "heard still")
      << "while a command finishes";
  raise_flag();
  EXPECT_EQ(finishing.end().code, 0);
  int status = 0;
  waitpid(std::exchange(process_, -1), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(socket_of("b"));
  ASSERT_TRUE(comes([&] { return said_by_agent().find("the server ends") != std::string::npos; }));
}

TEST_F(AgentsTest, StaysForTheCommandsOfAServerThatWasKilled) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(comes([&] { return !said_by_agent().empty(); }));
  const Descriptor open = connected_to(path_of("b"));
  stop(SIGKILL);
  usleep(300'000);
  EXPECT_EQ(asked(path_of("b"), "another"), "heard another");
  usleep(1'500'000);
  EXPECT_EQ(::send(open.get(), "it", 2, MSG_NOSIGNAL), 2);
  ::shutdown(open.get(), SHUT_WR);
  EXPECT_EQ(all_of(open.get()), "heard it");
  EXPECT_TRUE(has_gone("b")) << "as soon as nothing needs it";
  ASSERT_TRUE(
      comes([&] { return said_by_agent().find("the server was killed") != std::string::npos; }));
}

TEST_F(AgentsTest, OneOfAnotherVersionEnds) {
  serve();
  version_ = "0.9";
  agent_ = begin_agent("b");
  int status = 0;
  waitpid(std::exchange(agent_, -1), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_NE(said_by_agent().find("install the same version on both sides"), std::string::npos);
}

TEST_F(AgentsTest, OneThatIsSilentIsGone) {
  serve(quick());
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  kill(agent_, SIGSTOP);
  ASSERT_TRUE(has_gone("b"));
  EXPECT_NE(why_not("b").find("nothing was heard"), std::string::npos);
  kill(agent_, SIGCONT);
  EXPECT_TRUE(has_come("b"));
}

TEST_F(AgentsTest, TwoCannotHaveOneName) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  other_ = begin_agent("b", "said.other");
  ASSERT_TRUE(comes([&] { return !said_by_agent("said.other").empty(); }));
  const std::string refused = said_by_agent("said.other");
  EXPECT_TRUE(refused.starts_with("another agent `b` is connected, since 20")) << refused;
  EXPECT_NE(refused.find("from 127.0.0.1:"), std::string::npos);
  EXPECT_EQ(asked(path_of("b"), "first"), "heard first");
  end(std::exchange(agent_, -1), SIGKILL);
  ASSERT_TRUE(comes([&] {
    return said_by_agent("said.other").find("connected to") != std::string::npos;
  })) << "it waits for its turn";
}

TEST_F(AgentsTest, ATokenForAnAgentIsGoodForNothingElse) {
  serve();
  server_.token = token_for("b-token", "b");
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(agents_of(home_.path())[0].who.token, "b-token");
  for (const char* const word : {"sees", "plans", "acts", "admins"}) {
    const Report report = told({word, "everywhere"});
    EXPECT_EQ(report.code, 2);
    EXPECT_NE(report.errors.find("the token `b-token` is good for nothing but to be the agent `b`"),
              std::string::npos)
        << report.errors;
  }
  EXPECT_FALSE(runs_of_server(server_, {"1.0", {}}));
  EXPECT_NE(sent(cat("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:", server_.address.port,
                     "\r\nAuthorization: Bearer ", server_.token, "\r\n\r\n"))
                .find("403"),
            std::string::npos);
  const std::string other = refusal_of(R"({"name": "c"})");
  EXPECT_NE(other.find("and this one is called `c`"), std::string::npos) << other;
  EXPECT_NE(other.find(R"("blame":"user")"), std::string::npos) << other;
}

TEST_F(AgentsTest, OtherTokensMakeNoAgent) {
  serve();
  server_.token = token_for("worker", "", Right::act);
  agent_ = begin_agent("b");
  int status = 0;
  waitpid(std::exchange(agent_, -1), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2) << "it does not try again";
  EXPECT_EQ(said_by_agent(),
            "error: the token `worker` is not for the agent `b`: ask who keeps the server for one "
            "made with `fettle token create NAME --agent b`\n");
  server_.token = "forged";
  agent_ = begin_agent("b");
  waitpid(std::exchange(agent_, -1), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  server_.token = token_for("keeper", "", Right::admin);
  agent_ = begin_agent("b");
  EXPECT_TRUE(has_come("b"));
}

TEST_F(AgentsTest, ComesThoughCommandsHaveAllConnections) {
  serve({.connections = 1});
  Client waiting(command({"wait", flag()}));
  waiting.await("waiting");
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(told({"hello"}).code, 2) << "the only one is taken";
  raise_flag();
  EXPECT_EQ(waiting.end().code, 5);
  EXPECT_EQ(asked(path_of("b"), "still"), "heard still");
}

TEST_F(AgentsTest, ComeByAPathOfTheirOwn) {
  serve();
  for (const auto& [type, target] :
       {std::pair(FrameType::agent, commands_path), std::pair(FrameType::runs, agents_path)}) {
    Line line = open_line(0, target);
    line.send(type, R"({"name": "b"})");
    EXPECT_TRUE(line.push_all(20s));
    const std::optional<Frame> frame = line.await(20s);
    ASSERT_TRUE(frame && frame->type == FrameType::error);
    EXPECT_EQ(error_told(frame->payload).message,
              "an agent comes to `/v1/agents`, and nobody else does");
  }
}

TEST_F(AgentsTest, OneWhoseTokenIsTakenAwayGoes) {
  serve(quick());
  server_.token = token_for("b-token", "b");
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  ASSERT_TRUE(token_book(home_.path()).remove("b-token"));
  ASSERT_TRUE(has_gone("b"));
  int status = 0;
  waitpid(std::exchange(agent_, -1), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_NE(said_by_agent().find("the server does not know this token"), std::string::npos);
}

TEST_F(AgentsTest, TricksWithNamesAreRefused) {
  serve();
  for (const char* const name :
       {"", "..", "../x", "a/b", "/etc", "A", "a b", "-a", "a\\u0000b",
        "0123456789012345678901234567890123456789012345678901234567890123"}) {
    const std::string refused = refusal_of(cat(R"({"name": ")", name, "\"}"));
    EXPECT_NE(refused.find("is not a name for an agent"), std::string::npos) << name << refused;
  }
  for (const char* const json : {"", "[]", "{", "3"})
    EXPECT_NE(refusal_of(json).find("an agent begins with its name"), std::string::npos) << json;
  std::error_code failure;
  EXPECT_TRUE(!std::filesystem::exists(home_.path() / "serve/agents", failure));
}

TEST_F(AgentsTest, FramesThatBreakTheRulesEndTheirOwnAgentAlone) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  for (const auto& [type, payload] :
       {std::pair(FrameType::stream_bytes, std::string("\0\0\0\0\0\0\0\7hello", 13)),
        std::pair(FrameType::command, std::string("{}")),
        std::pair(FrameType::stream_open, std::string(8, '\1'))}) {
    Line line = open_line(0, agents_path);
    line.send(FrameType::agent, R"({"name": "hostile"})");
    EXPECT_TRUE(line.push_all(20s));
    const std::optional<Frame> let_in = line.await(20s);
    ASSERT_TRUE(let_in && let_in->type == FrameType::agent);
    line.send(type, payload);
    EXPECT_TRUE(line.push_all(20s));
    while (line.await(20s)) {
    }
    EXPECT_TRUE(line.is_gone());
    EXPECT_TRUE(has_gone("hostile"));
  }
  EXPECT_EQ(asked(path_of("b"), "still"), "heard still");
}

TEST_F(AgentsTest, WithoutItsEngineItSaysSo) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  std::error_code failure;
  std::filesystem::remove(engine_path_, failure);
  const std::string reply = asked(path_of("b"), "GET /_ping HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 502 Bad Gateway\r\n")) << reply;
  EXPECT_NE(reply.find("the agent `b` does not reach its engine: no engine answers"),
            std::string::npos)
      << reply;
}

TEST_F(AgentsTest, ByTlsItIsAsWithoutAndIsGoneAsSoon) {
  const SelfSigned identity("localhost");
  ServeSettings settings;
  settings.tls = TlsFiles{home_.path() / "cert.pem", home_.path() / "key.pem"};
  ASSERT_TRUE(write_file(settings.tls->certificate, identity.certificate));
  ASSERT_TRUE(write_file(settings.tls->key, identity.key, 0600));
  serve(settings);
  server_.authorities = identity.certificate;
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const std::string page(5'000'000, 'x');
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(asked(path_of("b"), page).size(), page.size() + 6);
  const Descriptor open = connected_to(path_of("b"));
  end(std::exchange(agent_, -1), SIGKILL);
  EXPECT_EQ(all_of(open.get()), "");
  EXPECT_TRUE(has_gone("b"));
  const SelfSigned another("localhost");
  server_.authorities = another.certificate;
  agent_ = begin_agent("b");
  int status = 0;
  waitpid(std::exchange(agent_, -1), &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2) << "it tells nobody its token whom it does not believe";
  EXPECT_NE(said_by_agent().find("is not trusted"), std::string::npos);
}

TEST_F(AgentsTest, ThreeHundredConnectionsAtOnceAreServedOrToldWhyNot) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const std::string path = path_of("b");
  std::vector<Descriptor> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(connected_to(path));
    ASSERT_TRUE(all.back().is_open()) << i;
  }
  for (const size_t i : {size_t{0}, size_t{255}}) {
    EXPECT_EQ(::send(all[i].get(), "x", 1, MSG_NOSIGNAL), 1);
    ::shutdown(all[i].get(), SHUT_WR);
    EXPECT_EQ(all_of(all[i].get()), "heard x") << i;
  }
  for (const size_t i : {size_t{256}, size_t{299}}) {
    const std::string reply = all_of(all[i].get());
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 503 ")) << i << reply;
    EXPECT_NE(reply.find("the agent `b` has 256 connections already"), std::string::npos);
  }
  all.clear();
  ASSERT_TRUE(comes([&] { return asked(path, "again") == "heard again"; }));
}

TEST_F(AgentsTest, APathThatIsTooLongForASocketIsToldOf) {
  const Path deep = home_.path() / std::string(60, 'd') / std::string(60, 'e');
  ASSERT_TRUE(make_directories(deep));
  const auto place = AgentPlace::take(
      deep, {.name = "b", .engine = {}, .acts = {}, .from = {}, .token = {}}, now_from_clock());
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().blame, Blame::user);
  EXPECT_NE(place.error().message.find("and 107 are possible"), std::string::npos)
      << place.error().message;
}

TEST_F(AgentsTest, OneThatHasBeenGoneForAMonthIsForgotten) {
  const Time now = now_from_clock();
  const auto placed = [&](const char* name) {
    return *AgentPlace::take(home_.path(), {name, {}, {}, {}, {}}, now);
  };
  placed("old").leave(now, "");
  const AgentPlace stays = placed("new");
  forget_gone_agents(home_.path(), now + 29 * 24h);
  EXPECT_EQ(agents_of(home_.path()).size(), 2u);
  forget_gone_agents(home_.path(), now + 31 * 24h);
  const std::vector<AgentView> all = agents_of(home_.path());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].who.name, "new");
}

}  // namespace
}  // namespace fettle
