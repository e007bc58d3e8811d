/// Shells over real WebSockets, of an engine whose shell is a few words long.

#include "server/terminals.h"

#include <gtest/gtest.h>

#include "base/wait.h"
#include "server/session_door.h"
#include "tests/fixtures/logs_only.h"
#include "tests/fixtures/server_fixture.h"

namespace fettle {
namespace {

/// Its shell repeats each line but `size`, `flood`, `much`, `deaf` and `exit`.
class ShellEngine : public FakeEngine, public LogsOnly {
 public:
  using FakeEngine::FakeEngine;

  ContainerEngine* container_engine() override { return this; }
  Result<int64_t> talk(const std::string&, const ExecOptions& options, const TalkEnds& ends,
                       const StreamSink& sink, std::stop_token stop) override {
    EXPECT_TRUE(options.tty && options.input);
    ++open_;
    const Result<int64_t> code = shell(ends, sink, stop);
    --open_;
    return code;
  }
  Status logs(const std::string&, const LogOptions&, bool, const StreamSink&,
              std::stop_token) override {
    return {};
  }

  std::atomic<int> open_ = 0;
  std::atomic<int64_t> flooded_ = 0;

 private:
  static constexpr size_t more_than_a_socket_takes = size_t{64} << 20;

  Result<int64_t> shell(const TalkEnds& ends, const StreamSink& sink, const std::stop_token& stop) {
    Poller poller(stop);
    for (std::string line;;) {
      std::array<pollfd, 2> waited{pollfd{ends.input, POLLIN, 0}, pollfd{ends.resized, POLLIN, 0}};
      TRY(poller.wait(waited, for_ever));
      std::array<char, 64> bells{};
      if (waited[1].revents != 0 && ::read(ends.resized, bells.data(), bells.size()) > 0)
        TRY(sink(OutputStream::out, "resized\n"));
      char c = 0;
      if (waited[0].revents == 0)
        continue;
      if (::read(ends.input, &c, 1) != 1)
        return 0;
      line += c;
      if (c != '\n')
        continue;
      if (line == "exit\n")
        return 7;
      if (line == "break\n")
        return world_error("the container has ended");
      if (line == "much\n")
        TRY(sink(OutputStream::out, std::string(more_than_a_socket_takes, 'x')));
      if (line == "deaf\n")
        TRY(pause_for(1h, stop));
      while (line == "flood\n") {
        TRY(sink(OutputStream::out, std::string(1024, 'x')));
        flooded_ += 1024;
      }
      TRY(sink(OutputStream::out,
               line == "size\n" ? cat(ends.size()->rows, "x", ends.size()->columns, "\n") : line));
      line.clear();
    }
  }
};

std::string frame(char opcode, std::string_view payload) {
  std::string made{static_cast<char>(0x80 | opcode)};
  if (payload.size() < 126) {
    made += static_cast<char>(0x80 | payload.size());
  } else {
    made += static_cast<char>(0x80 | 126);
    made += static_cast<char>(payload.size() >> 8);
    made += static_cast<char>(payload.size());
  }
  return cat(made, std::string(4, '\0'), payload);  // masked with zeros
}
constexpr char text_code = 1, bytes_code = 2;

class TerminalsTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    place_.driver = [this](const Name& name) -> Driver* {
      return name == "host" ? static_cast<Driver*>(&this->RunPackageTest::host_) : &engine_;
    };
    ASSERT_EQ(run(add("web")), "R");
  }
  void TearDown() override {
    stop();
    ServerTest::TearDown();
  }
  /// Serves, and keeps the cookie and the key for terminals.
  void begin(const WebSettings& settings = {}) {
    serve(settings);
    const std::string reply = sent(request(key_target()));
    const size_t at = reply.find("Set-Cookie: ") + 12, key = reply.find("/#key=") + 6;
    cookie_ = reply.substr(at, reply.find(';', at) - at);
    key_ = reply.substr(key, 64);
  }
  std::string upgrade() const {
    return "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  }
  std::string own_origin() const { return cat("Origin: http://", host_, "\r\n"); }
  std::string own_key() const {
    return cat("Sec-WebSocket-Protocol: fettle.terminal, key.", key_, "\r\n");
  }
  std::string asked_for(const std::string& fields, const std::string& target = shell_target) const {
    return cat("GET ", target, " HTTP/1.1\r\nHost: ", host_, "\r\nCookie: ", cookie_, "\r\n",
               fields, "\r\n");
  }
  std::string whole_request(const std::string& target = shell_target) const {
    return asked_for(cat(upgrade(), own_origin(), own_key()), target);
  }
  void enter_shell(const Wire& wire) const {
    ASSERT_TRUE(wire.say(whole_request()));
    const std::string reply = wire.until("\r\n\r\n");
    ASSERT_EQ(status_of(reply), "101") << reply;
  }
  /// Waits for what another thread does.
  static bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 1000; ++i) {
      if (holds())
        return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  static constexpr const char* shell_target =
      "/api/environments/e/services/web/terminal?rows=30&columns=90";
  ShellEngine engine_{home_.blobs()};
  std::string key_;
};

TEST_F(TerminalsTest, IsForOurPageAlone) {
  begin();
  const std::string all = cat(upgrade(), own_origin(), own_key());
  for (const std::string& fields :
       {cat(upgrade(), own_key()), cat(upgrade(), own_key(), "Origin: http://evil.example\r\n"),
        cat(upgrade(), own_key(), "Origin: null\r\n"),
        cat(upgrade(), own_key(), "Origin: http://127.0.0.1:", server_->port() + 1, "\r\n"),
        cat(all, "Sec-Fetch-Site: cross-site\r\n"), cat(all, "Sec-Fetch-Site: same-site\r\n"),
        cat(upgrade(), own_origin()),
        cat(upgrade(), own_origin(), "Sec-WebSocket-Protocol: fettle.terminal\r\n"),
        cat(upgrade(), own_origin(), "Sec-WebSocket-Protocol: key.", std::string(64, '0'), "\r\n"),
        cat(upgrade(), own_origin(), "Sec-WebSocket-Protocol: ", key_, "\r\n")}) {
    const Wire wire(server_->port());
    EXPECT_TRUE(wire.say(asked_for(fields)));
    EXPECT_EQ(status_of(wire.rest()), "403") << fields;
  }
  cookie_ = "fettle=1";
  EXPECT_EQ(status_of(sent(whole_request())), "401");
  EXPECT_EQ(engine_.open_, 0);
}

TEST_F(TerminalsTest, TheKeyIsGivenWithTheAddressAlone) {
  begin();
  const std::string again = told(key_target());
  EXPECT_EQ(status_of(again), "200");
  EXPECT_EQ(again.find("key="), std::string::npos) << again;
  for (const char* target : {"/", "/api/environments", "/api/environments/e"})
    EXPECT_EQ(told(target).find(key_), std::string::npos);
}

TEST_F(TerminalsTest, WhatIsNoTerminalIsRefusedInWords) {
  begin();
  EXPECT_EQ(status_of(told(shell_target)), "426");
  EXPECT_EQ(status_of(sent(whole_request("/api/environments/e/services/none/terminal"))), "404");
  for (const char* target : {"/api/environments", "/api/stream", "/api/nothing"})
    EXPECT_EQ(status_of(sent(whole_request(target))), "400") << target;
  EXPECT_EQ(status_of(sent(whole_request(cat(shell_target, "&rows=1")))), "400");
  EXPECT_EQ(status_of(sent(cat(whole_request(), frame(bytes_code, "exit\n")))), "400");
  EXPECT_EQ(engine_.open_, 0);
}

TEST_F(TerminalsTest, OneOfASessionIsNotedUntilItEnds) {
  begin();
  const std::string asked = whole_request();
  stop();
  std::atomic<int> ended = 0;
  auto server = WebServer::open_for_handed(
      served_, {}, files_of_test,
      std::make_unique<SessionDoor>(
          [](const SessionAsk& ask) {
            return SessionAllowed{ask.is_terminal ? 200 : 403, "no", "a line"};
          },
          [&](const std::string& noted) { ended += noted == "a line" ? 1 : 100; }));
  ASSERT_TRUE(server) << to_string(server.error());
  server_ = *std::move(server);
  thread_ = std::jthread([this](const std::stop_token& end) { server_->serve(end); });
  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const Descriptor own(pair[0]);
  server_->adopt(Descriptor(pair[1]), asked, "a");
  const auto until = [&](std::string_view text) {
    std::string all;
    std::array<char, 4'096> buffer{};
    for (ssize_t count = 1; count > 0 && all.find(text) == all.npos;) {
      count = ::recv(own.get(), buffer.data(), buffer.size(), 0);
      all.append(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
    }
    return all;
  };
  const auto say = [&](const std::string& bytes) {
    EXPECT_EQ(::send(own.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  };
  EXPECT_EQ(status_of(until("\r\n\r\n")), "101");
  say(frame(bytes_code, "size\n"));
  EXPECT_NE(until("30x90\n").find("30x90\n"), std::string::npos);
  EXPECT_EQ(ended, 0);
  say(frame(bytes_code, "exit\n"));
  EXPECT_NE(until(R"({"ended":7})").find(R"({"ended":7})"), std::string::npos);
  EXPECT_TRUE(soon([&] { return ended == 1; }));
  stop();
  EXPECT_EQ(ended, 1);
}

TEST_F(TerminalsTest, TalksUntilItsShellEnds) {
  begin();
  const Wire wire(server_->port()), other(server_->port());
  enter_shell(wire);
  enter_shell(other);
  EXPECT_TRUE(wire.say(frame(bytes_code, "si")));
  EXPECT_TRUE(wire.say(frame(bytes_code, "ze\n")));
  EXPECT_NE(wire.until("30x90\n").find("30x90\n"), std::string::npos);
  EXPECT_TRUE(wire.say(frame(text_code, R"({"rows":40,"columns":100})")));
  wire.until("resized\n");
  EXPECT_TRUE(wire.say(frame(bytes_code, "size\n")));
  EXPECT_NE(wire.until("40x100\n").find("40x100\n"), std::string::npos);
  EXPECT_TRUE(other.say(frame(bytes_code, "size\n")));
  EXPECT_NE(other.until("30x90\n").find("30x90\n"), std::string::npos);
  EXPECT_TRUE(wire.say(frame(bytes_code, "exit\n")));
  EXPECT_NE(wire.until(R"({"ended":7})").find(R"({"ended":7})"), std::string::npos);
  EXPECT_TRUE(wire.say(frame(8, std::string_view("\x03\xe8", 2))));
  wire.rest();
  EXPECT_TRUE(other.say(frame(bytes_code, "break\n")));
  EXPECT_NE(other.until("\"}").find("the container has ended"), std::string::npos);
  EXPECT_TRUE(soon([&] { return engine_.open_ == 0; }));
}

TEST_F(TerminalsTest, WhatOurPageDoesNotSayEndsIt) {
  begin();
  std::string huge{'\x82', '\xff'};
  huge += std::string("\x3f\xff\xff\xff\xff\xff\xff\xff", 8) + std::string(4, '\0');
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("\x82\x03"
                    "abc"),
        frame(3, "x"), frame(9, std::string(126, 'x')), huge, frame(text_code, "hello"),
        frame(text_code, "[]"), frame(text_code, R"({"rows":0,"columns":1})"),
        frame(text_code, R"({"rows":99999,"columns":1})"), frame(text_code, R"({"taken":-1})"),
        frame(text_code, R"({"taken":1})"), frame(text_code, "\xff\xfe"),
        frame(text_code, std::string(60'000, '['))}) {
    const Wire wire(server_->port());
    enter_shell(wire);
    EXPECT_TRUE(soon([&] { return engine_.open_ == 1; }));
    EXPECT_TRUE(wire.say(bytes));
    const std::string mark_of_end = "\x88";
    EXPECT_NE(wire.until(mark_of_end).find(mark_of_end), std::string::npos);
    wire.close_writing();
    EXPECT_TRUE(soon([&] { return engine_.open_ == 0; })) << printable(bytes.substr(0, 40));
  }
  EXPECT_EQ(status_of(told("/")), "200");
}

/// A piece is on its way then, and those that wait are not sent any more.
TEST_F(TerminalsTest, WhatOurPageDoesNotSayEndsOneThatPrints) {
  begin();
  const Wire wire(server_->port());
  enter_shell(wire);
  EXPECT_TRUE(wire.say(frame(bytes_code, "much\n")));
  wire.until("xxx");
  std::this_thread::sleep_for(500ms);  // until nothing more goes into the socket
  EXPECT_TRUE(wire.say(frame(text_code, "hello")));
  std::this_thread::sleep_for(300ms);  // until that is read
  const std::string_view closed_by_policy("\x88\x02\x03\xf0", 4);
  const std::string printed = wire.until(closed_by_policy);
  EXPECT_TRUE(printed.ends_with(closed_by_policy)) << printed.size();
  wire.close_writing();
  EXPECT_TRUE(soon([&] { return engine_.open_ == 0; }));
}

TEST_F(TerminalsTest, WhoeverDoesNotDrawMakesTheShellWait) {
  begin();
  const Wire wire(server_->port());
  enter_shell(wire);
  EXPECT_TRUE(wire.say(frame(bytes_code, "flood\n")));
  EXPECT_TRUE(soon([&] { return engine_.flooded_ == 262'144; }));
  EXPECT_TRUE(wire.say(frame(text_code, R"({"taken":2048})")));
  EXPECT_TRUE(soon([&] { return engine_.flooded_ == 262'144 + 2048; }));
  wire.close_writing();
  EXPECT_TRUE(soon([&] { return engine_.open_ == 0; }));
}

TEST_F(TerminalsTest, WhatAShellDoesNotReadIsNotKept) {
  begin();
  const Wire wire(server_->port());
  enter_shell(wire);
  EXPECT_TRUE(wire.say(frame(bytes_code, "deaf\n")));
  const std::string piece = frame(bytes_code, std::string(32'768, 'x'));
  size_t taken = 0;
  for (ssize_t count = 1; count > 0 && taken < 64U << 20;) {
    for (int i = 0; i < 20; ++i) {
      count = wire.try_say(std::string_view(piece).substr(taken % piece.size()));
      if (count > 0)
        break;
      std::this_thread::sleep_for(10ms);
    }
    taken += count > 0 ? static_cast<size_t>(count) : 0;
  }
  EXPECT_LT(taken, 32U << 20);
  EXPECT_EQ(engine_.open_, 1);
}

TEST_F(TerminalsTest, OneThatIsNoLongerThereIsLetGo) {
  begin({.listener = {.socket_idle = 200ms}});
  const Wire silent(server_->port());
  enter_shell(silent);
  EXPECT_TRUE(soon([&] { return engine_.open_ == 1; }));
  EXPECT_TRUE(soon([&] { return engine_.open_ == 0; }));
}

TEST_F(TerminalsTest, ThereAreNoMoreThanSixteen) {
  begin();
  std::list<Wire> wires;
  for (int i = 0; i < 16; ++i)
    enter_shell(wires.emplace_back(server_->port()));
  EXPECT_EQ(status_of(sent(whole_request())), "502");
  wires.clear();
  EXPECT_TRUE(soon([&] { return engine_.open_ == 0; }));
  // Its thread has ended, and it is looked for each second at the latest.
  EXPECT_TRUE(soon([&] {
    const Wire wire(server_->port());
    return wire.say(whole_request()) && status_of(wire.until("\r\n\r\n")) == "101";
  }));
}

TEST_F(TerminalsTest, TheServerEndsItsShells) {
  begin();
  const Wire wire(server_->port());
  enter_shell(wire);
  EXPECT_TRUE(wire.say(frame(bytes_code, "flood\n")));
  wire.until("xxx");
  stop();
  EXPECT_EQ(engine_.open_, 0);
}

}  // namespace
}  // namespace fettle
