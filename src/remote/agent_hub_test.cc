/// The process of a server that has the lines of agents at rest.

#include "remote/agent_hub.h"

#include <sys/resource.h>

#include "remote/audit_log.h"
#include "remote/server_line.h"
#include "tests/fixtures/agents_fixture.h"
#include "tests/fixtures/certificates.h"

namespace fettle {
namespace {

class AgentHubTest : public AgentsTest {
 protected:
  static std::vector<pid_t> children_of(pid_t process) {
    std::vector<pid_t> all;
    const std::string text =
        read_file(cat("/proc/", process, "/task/", process, "/children")).value_or("");
    for (const std::string_view child : split(text, ' '))
      if (!child.empty())
        all.push_back(std::stoi(std::string(child)));
    return all;
  }
  /// The hub, when nothing else is at the server.
  pid_t hub() const {
    pid_t found = -1;
    EXPECT_TRUE(comes([&] {
      const std::vector<pid_t> all = children_of(process_);
      found = all.size() == 1 ? all[0] : -1;
      return found > 0;
    }));
    return found;
  }
  bool is_at_rest() const {
    return comes([&] { return children_of(hub()).empty(); });
  }
  /// An agent that only says what it is told to say.
  Line let_in(const std::string& name) const {
    Line line = open_line(0, agents_path);
    line.send(FrameType::agent, cat(R"({"name": ")", name, R"("})"));
    EXPECT_TRUE(line.push_all(20s));
    const std::optional<Frame> answer = line.await(20s);
    EXPECT_TRUE(answer && answer->type == FrameType::agent) << name;
    return line;
  }
};

TEST_F(AgentHubTest, AgentsAtRestShareOneProcessAndAreNoConnections) {
  serve({.connections = 2});
  std::vector<Line> lines;
  for (int i = 0; i < 20; ++i)
    lines.push_back(let_in(cat("b", i)));
  EXPECT_TRUE(is_at_rest());
  EXPECT_EQ(agents_of(home_.path()).size(), 20u);
  for (const AgentView& view : agents_of(home_.path()))
    EXPECT_TRUE(view.is_connected) << view.who.name;
  EXPECT_EQ(told({"sees", "everywhere"}).code, 0);
  const std::string numbers =
      sent(cat("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:", server_.address.port,
               "\r\nAuthorization: Bearer ", server_.token, "\r\n\r\n"));
  EXPECT_NE(numbers.find("\nfettle_serve_agents 20\n"), std::string::npos) << numbers;
  EXPECT_NE(numbers.find("\nfettle_serve_agents_limit 4096\n"), std::string::npos) << numbers;
}

TEST_F(AgentHubTest, AProcessHasTheLineWhileItIsUsed) {
  serve();
  agent_ = begin_agent("b");
  const std::string path = path_of("b");
  EXPECT_TRUE(is_at_rest());
  // The numbers of streams go on, or the agent would take the second time for a lie.
  for (int i = 0; i < 2; ++i) {
    const Descriptor open = connected_to(path);
    EXPECT_TRUE(comes([&] { return children_of(hub()).size() == 1; }));
    EXPECT_EQ(asked(path, "a question"), "heard a question");
    EXPECT_EQ(::send(open.get(), "it", 2, MSG_NOSIGNAL), 2);
    ::shutdown(open.get(), SHUT_WR);
    EXPECT_EQ(all_of(open.get()), "heard it");
    EXPECT_TRUE(is_at_rest()) << "it was given back";
  }
  EXPECT_TRUE(socket_of("b"));
  EXPECT_EQ(split(trim(said_by_agent()), '\n').size(), 1u) << said_by_agent();
}

TEST_F(AgentHubTest, SignsOfLifeGoOnThroughAllOfThat) {
  serve(quick());
  agent_ = begin_agent("b");
  const std::string path = path_of("b");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(asked(path, "x"), "heard x");
    usleep(1'700'000);  // longer than either side would wait, at rest and in use
  }
  EXPECT_EQ(asked(path, "x"), "heard x");
  EXPECT_EQ(split(trim(said_by_agent()), '\n').size(), 1u) << said_by_agent();
}

TEST_F(AgentHubTest, AfterItsDeathAllComeAgainToAnother) {
  serve();
  agent_ = begin_agent("b");
  other_ = begin_agent("c", "said.other");
  ASSERT_TRUE(has_come("b") && has_come("c"));
  const pid_t first = hub();
  kill(first, SIGKILL);
  ASSERT_TRUE(comes([&] {
    return said_by_agent().find("was lost") != std::string::npos &&
           said_by_agent("said.other").find("was lost") != std::string::npos;
  }));
  ASSERT_TRUE(has_come("b") && has_come("c"));
  EXPECT_EQ(asked(path_of("b"), "again"), "heard again");
  EXPECT_EQ(asked(path_of("c"), "again"), "heard again");
  EXPECT_NE(hub(), first);
  EXPECT_EQ(stop(SIGTERM), 0);
}

TEST_F(AgentHubTest, WhatIsUsedWhenItDiesGoesOnToItsEnd) {
  serve();
  agent_ = begin_agent("b");
  const Descriptor open = connected_to(path_of("b"));
  ASSERT_TRUE(comes([&] { return children_of(hub()).size() == 1; }));
  kill(hub(), SIGKILL);
  usleep(300'000);
  EXPECT_EQ(::send(open.get(), "it", 2, MSG_NOSIGNAL), 2);
  ::shutdown(open.get(), SHUT_WR);
  EXPECT_EQ(all_of(open.get()), "heard it");
  ASSERT_TRUE(comes([&] { return said_by_agent().find("was killed") != std::string::npos; }));
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(asked(path_of("b"), "again"), "heard again");
}

TEST_F(AgentHubTest, AProcessThatDiesLosesItsOwnLineAlone) {
  serve();
  agent_ = begin_agent("b");
  other_ = begin_agent("c", "said.other");
  ASSERT_TRUE(has_come("b") && has_come("c"));
  const Descriptor open = connected_to(path_of("b"));
  ASSERT_TRUE(comes([&] { return children_of(hub()).size() == 1; }));
  kill(children_of(hub())[0], SIGKILL);
  EXPECT_EQ(all_of(open.get()), "");
  ASSERT_TRUE(comes([&] {
    return said_by_agent().find("its process at the server was ended") != std::string::npos;
  })) << said_by_agent();
  EXPECT_EQ(asked(path_of("c"), "still"), "heard still");
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(asked(path_of("b"), "again"), "heard again");
  EXPECT_EQ(split(trim(said_by_agent("said.other")), '\n').size(), 1u);
}

TEST_F(AgentHubTest, OneTooManyIsToldSoAndComesLater) {
  serve({.agents = 1});
  Line first = let_in("a");
  agent_ = begin_agent("b");
  ASSERT_TRUE(comes([&] { return !said_by_agent().empty(); }));
  EXPECT_EQ(said_by_agent(),
            "the server has 1 agents already, and takes no more; trying again until it works\n");
  ::shutdown(first.descriptor(), SHUT_RDWR);  // the agent of the test has a copy
  EXPECT_TRUE(has_come("b"));
}

TEST_F(AgentHubTest, WithoutDescriptorsNewcomersAreToldSo) {
  const rlimit few{80, 80};
  serve();
  ASSERT_EQ(prlimit(process_, RLIMIT_NOFILE, &few, nullptr), 0);
  std::vector<Line> lines;
  for (int i = 0; i < 8; ++i)
    lines.push_back(let_in(cat("b", i)));
  const std::string refused = refusal_of(R"({"name": "c"})");
  EXPECT_NE(refused.find("the server has 8 agents already, as many as it has descriptors for "
                         "(`ulimit -Hn`: 80)"),
            std::string::npos)
      << refused;
  EXPECT_EQ(told({"sees", "everywhere"}).code, 0);
  lines.pop_back();
  EXPECT_TRUE(comes([&] { return refusal_of(R"({"name": "c"})") == "g"; }));
}

TEST_F(AgentHubTest, OneThatHearsNothingKeepsNobodyWaiting) {
  serve(quick());
  agent_ = begin_agent("b");
  const std::string path = path_of("b");
  const Descriptor deaf = connected(1);
  EXPECT_EQ(
      ::send(deaf.get(), greeting(agents_path).data(), greeting(agents_path).size(), MSG_NOSIGNAL),
      static_cast<ssize_t>(greeting(agents_path).size()));
  usleep(200'000);
  const std::string frame = packed(FrameType::agent, R"({"name": "deaf"})");
  EXPECT_EQ(::send(deaf.get(), frame.data(), frame.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(frame.size()));
  ASSERT_TRUE(has_come("deaf"));
  const Descriptor waiting = connected_to(path_of("deaf"));
  EXPECT_EQ(asked(path, "still"), "heard still");
  ASSERT_TRUE(has_gone("deaf"));
  EXPECT_NE(why_not("deaf").find("nothing was heard"), std::string::npos) << why_not("deaf");
  EXPECT_EQ(asked(path, "still"), "heard still");
}

TEST_F(AgentHubTest, SignsOfLifeInPiecesAreSignsOfLife) {
  serve(quick());
  const Line line = let_in("slow");
  const std::string alive = packed(FrameType::alive) + packed(FrameType::alive);
  for (int round = 0; round < 4; ++round)
    for (const char byte : alive) {
      ASSERT_EQ(::send(line.descriptor(), &byte, 1, MSG_NOSIGNAL), 1);
      usleep(50'000);
    }
  EXPECT_TRUE(socket_of("slow"));
  EXPECT_TRUE(is_at_rest());
}

TEST_F(AgentHubTest, ASecondSignalEndsItWithTheServer) {
  serve({}, [](const CommandRequest& request, const std::string&) {
    signal(SIGTERM, SIG_IGN);
    say("waiting");
    while (!file_exists(request.words[1]))
      usleep(5'000);
    return 0;
  });
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const Descriptor open = connected_to(path_of("b"));
  Client finishing(command({"acts", flag()}));
  finishing.await("waiting");
  kill(process_, SIGTERM);
  ASSERT_TRUE(
      comes([&] { return said().find("finishing running commands") != std::string::npos; }));
  EXPECT_EQ(stop(SIGTERM), 0);
  EXPECT_EQ(all_of(open.get()), "");
  EXPECT_TRUE(has_gone("b"));
}

TEST_F(AgentHubTest, TheAuditHasItsAgents) {
  serve();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(asked(path_of("b"), "x"), "heard x");
  EXPECT_TRUE(is_at_rest());
  end(std::exchange(agent_, -1), SIGTERM);
  ASSERT_TRUE(has_gone("b"));
  ASSERT_TRUE(comes([&] { return audit_log(home_.path()).all()->back().code.has_value(); }));
  const std::vector<AuditEntry> audit = *audit_log(home_.path()).all();
  ASSERT_EQ(audit.size(), 1u);
  EXPECT_EQ(audit[0].command, "fettle agent --name b");
  EXPECT_EQ(audit[0].code, 0);
}

class SecuredAgents : public AgentHubTest {
 protected:
  void serve_secured(ServeSettings settings = {}) {
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes in this process, too
    const SelfSigned identity("localhost");
    settings.tls = TlsFiles{home_.path() / "cert.pem", home_.path() / "key.pem"};
    ASSERT_TRUE(write_file(settings.tls->certificate, identity.certificate));
    ASSERT_TRUE(write_file(settings.tls->key, identity.key, 0600));
    serve(settings);
    server_.authorities = identity.certificate;
  }
  /// A line that has asked to be an agent, and was told to shake hands again; the secret.
  std::pair<Line, std::string> asked_again(const std::string& name) const {
    Line line = *line_to_server(server_, "1.0", nullptr, agents_path);
    line.send(FrameType::agent, cat(R"({"name": ")", name, R"("})"));
    EXPECT_TRUE(line.push_all(20s));
    const std::optional<Frame> answer = line.await(20s);
    EXPECT_TRUE(answer && answer->type == FrameType::again);
    return {std::move(line), answer ? answer->payload : ""};
  }
};

TEST_F(SecuredAgents, ShareOneProcessMore) {
  serve_secured({.connections = 2});
  agent_ = begin_agent("b");
  std::vector<Line> lines;
  for (int i = 0; i < 10; ++i) {
    auto [line, secret] = asked_again(cat("b", i));
    Result<Line> again = secured_again(std::move(line), server_);
    ASSERT_TRUE(again);
    again->send_packed(secret);
    ASSERT_TRUE(again->push_all(20s));
    const std::optional<Frame> answer = again->await(20s);
    ASSERT_TRUE(answer && answer->type == FrameType::agent);
    lines.push_back(*std::move(again));
  }
  ASSERT_TRUE(has_come("b"));
  EXPECT_EQ(children_of(process_).size(), 1u);
  EXPECT_EQ(children_of(hub()).size(), 1u) << "that of TLS";
  const std::string page(3'000'000, 'x');
  EXPECT_EQ(asked(path_of("b"), page).size(), page.size() + 6);
  EXPECT_EQ(told({"sees", "everywhere"}).code, 0);
  EXPECT_EQ(stop(SIGTERM), 0);
}

TEST_F(SecuredAgents, AnotherSecretIsNoAgent) {
  serve_secured();
  for (const std::string& said : {std::string(64, '0'), std::string("short"), std::string()}) {
    auto [line, secret] = asked_again("b");
    Result<Line> again = secured_again(std::move(line), server_);
    ASSERT_TRUE(again);
    again->send_packed(said);
    ASSERT_TRUE(again->push_all(20s));
    ::shutdown(again->descriptor(), SHUT_WR);
    EXPECT_FALSE(again->await(20s));
    EXPECT_TRUE(again->is_gone());
    EXPECT_TRUE(agents_of(home_.path()).empty());
  }
  // Nor is one that ends TLS without a second handshake, or says something else in its place.
  for (const std::string& said : {std::string(), std::string("GET / HTTP/1.1\r\n\r\n")}) {
    auto [line, secret] = asked_again("b");
    const Descriptor socket = line.leave_tls(20s);
    ASSERT_TRUE(socket.is_open());
    EXPECT_EQ(::send(socket.get(), said.data(), said.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(said.size()));
    ::shutdown(socket.get(), SHUT_WR);
    static_cast<void>(all_of(socket.get()));
    EXPECT_TRUE(agents_of(home_.path()).empty());
  }
  agent_ = begin_agent("b");
  EXPECT_TRUE(has_come("b"));
}

TEST_F(SecuredAgents, ComeAgainWhenTheirProcessDies) {
  serve_secured();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const pid_t first = hub();
  ASSERT_TRUE(comes([&] { return children_of(first).size() == 1; }));
  kill(children_of(first)[0], SIGKILL);
  ASSERT_TRUE(comes([&] {
    const std::string told = said_by_agent();
    return told.find("was lost") < told.rfind("connected to ");
  })) << said_by_agent();
  EXPECT_EQ(asked(path_of("b"), "again"), "heard again");
  EXPECT_EQ(hub(), first);
}

TEST_F(SecuredAgents, OneThatTakesNothingKeepsNobodyWaiting) {
  serve_secured(quick());
  agent_ = begin_agent("b");
  other_ = begin_agent("c", "said.other");
  ASSERT_TRUE(has_come("b") && has_come("c"));
  const Descriptor open = connected_to(path_of("c"));
  fcntl(open.get(), F_SETFL, O_NONBLOCK);
  kill(other_, SIGSTOP);
  const std::string page(1'000'000, 'x');
  EXPECT_GT(::send(open.get(), page.data(), page.size(), MSG_NOSIGNAL), 0);
  EXPECT_EQ(asked(path_of("b"), page).size(), page.size() + 6);
  ASSERT_TRUE(has_gone("c"));
  kill(other_, SIGCONT);
  EXPECT_TRUE(has_come("c"));
}

TEST_F(SecuredAgents, GoOnByTheCertificateThatIsThereNow) {
  serve_secured();
  agent_ = begin_agent("b");
  ASSERT_TRUE(has_come("b"));
  const SelfSigned another("localhost");
  ASSERT_TRUE(write_file(home_.path() / "key.pem", another.key, 0600));
  ASSERT_TRUE(write_file(home_.path() / "cert.pem", another.certificate));
  server_.authorities = another.certificate;
  other_ = begin_agent("c", "said.other");
  EXPECT_TRUE(has_come("c"));
  EXPECT_EQ(asked(path_of("b"), "still"), "heard still");
  EXPECT_EQ(asked(path_of("c"), "new"), "heard new");
}

}  // namespace
}  // namespace fettle
