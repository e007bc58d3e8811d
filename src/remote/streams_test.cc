/// Many streams in one line, without an engine: both ends of the line here, and sockets beyond them.

#include "remote/streams.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <thread>

#include "base/text.h"
#include "remote/agent_line.h"

namespace fettle {
namespace {

std::pair<Descriptor, Descriptor> two_sockets() {
  std::array<int, 2> pair{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()), 0);
  return {Descriptor(pair[0]), Descriptor(pair[1])};
}

void push_in(const Descriptor& socket, std::string_view text) {
  EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

/// What has come; `|` stands for the end.
std::string taken_from(const Descriptor& socket) {
  std::string text;
  std::array<char, 65'536> buffer{};
  ssize_t count = 0;
  while ((count = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0)
    text.append(buffer.data(), static_cast<size_t>(count));
  return count == 0 || errno != EAGAIN ? text + "|" : text;
}

/// A line with streams from sockets of `clients` to those of `engines`.
class StreamsTest : public testing::Test {
 protected:
  static constexpr size_t most = 4;

  StreamsTest() {
    auto [a, b] = two_sockets();
    a_.emplace(std::move(a));
    b_.emplace(std::move(b));
    server_.emplace(*a_, most, 30s, std::stop_token());
    agent_.emplace(*b_, 2 * most, 30s, std::stop_token());
    server_->streams().answer_failures(
        [](StreamGoal, std::string_view why) { return cat("502 ", why); });
  }

  /// The client's end of a new stream.
  Descriptor open() {
    auto [client, ours] = two_sockets();
    server_->streams().open(std::move(ours), StreamGoal::engine, "503 too many");
    return std::move(client);
  }
  Status turn_server() {
    std::array<pollfd, 1> others{pollfd{always_.get(), POLLIN, 0}};
    return server_->turn(others, [](const Frame&) -> Result<bool> { return false; });
  }
  Status turn_agent() {
    std::array<pollfd, 1> others{pollfd{always_.get(), POLLIN, 0}};
    return agent_->turn(others, [&](const Frame& frame) -> Result<bool> {
      return frame.type == FrameType::stream_open &&
             agent_->streams().join(frame, [&](StreamGoal) { return connect(); });
    });
  }
  Result<Descriptor> connect() {
    if (refuses_)
      return world_error("nobody is there");
    auto [engine, ours] = two_sockets();
    engines_.push_back(std::move(engine));
    return std::move(ours);
  }
  void turn(int times = 20) {
    for (int i = 0; i < times; ++i) {
      const Status server = turn_server(), agent = turn_agent();
      ASSERT_TRUE(server) << to_string(server.error());
      ASSERT_TRUE(agent) << to_string(agent.error());
    }
  }
  std::pair<size_t, size_t> counts() {
    return {server_->streams().count(), agent_->streams().count()};
  }
  /// What the agent's side says, whole frames; why the server's side ends.
  std::string end_by(FrameType type, std::string_view payload) {
    b_->send(type, payload);
    for (int i = 0; i < 20; ++i) {
      b_->push();
      if (const Status end = turn_server(); !end)
        return end.error().message;
    }
    return "";
  }

  const Descriptor always_{eventfd(1, EFD_CLOEXEC)};  ///< no turn waits
  std::optional<Line> a_, b_;
  std::optional<AgentLine> server_, agent_;
  std::vector<Descriptor> engines_;
  bool refuses_ = false;
};

constexpr std::string_view first_stream("\0\0\0\0\0\0\0\1", 8);
constexpr std::pair<size_t, size_t> none{0, 0};

TEST_F(StreamsTest, BytesGoBothWaysAndEachSideMayEndFirst) {
  const Descriptor client = open();
  push_in(client, "question");
  turn();
  ASSERT_EQ(engines_.size(), 1u);
  EXPECT_EQ(taken_from(engines_[0]), "question");
  ::shutdown(client.get(), SHUT_WR);
  turn();
  EXPECT_EQ(taken_from(engines_[0]), "|") << "it hears that no more comes";
  push_in(engines_[0], "answer");
  turn();
  EXPECT_EQ(taken_from(client), "answer") << "and still answers";
  ::shutdown(engines_[0].get(), SHUT_WR);
  turn();
  EXPECT_EQ(taken_from(client), "|");
  EXPECT_EQ(counts(), none);
}

TEST_F(StreamsTest, WhatWasSaidBeforeASideWentGetsThrough) {
  const Descriptor first = open();
  turn();
  const std::string page(200'000, 'x');
  push_in(engines_[0], page);
  engines_[0].close();
  turn();
  EXPECT_EQ(taken_from(first), page + "|");
  turn();
  EXPECT_EQ(counts(), none);
  Descriptor second = open();
  push_in(second, page);
  second.close();
  turn();
  EXPECT_EQ(taken_from(engines_[1]), page + "|");
  turn();
  EXPECT_EQ(counts(), none);
}

TEST_F(StreamsTest, AnEngineThatRefusesMoreIsHeardToTheEnd) {
  const Descriptor client = open();
  turn();
  ::shutdown(engines_[0].get(), SHUT_RD);
  push_in(engines_[0], "413 too large");
  const std::string page(100'000, 'x');
  for (int i = 0; i < 20; ++i) {
    push_in(client, page);  // far more than the window
    turn(5);
  }
  EXPECT_EQ(taken_from(client), "413 too large");
  engines_[0].close();
  turn();
  EXPECT_EQ(taken_from(client), "|");
  EXPECT_EQ(counts(), none);
}

TEST_F(StreamsTest, ASlowReaderWaitsAloneAndNothingPilesUp) {
  const Descriptor slow = open(), quick = open();
  turn();
  size_t said = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string page(10'000, 's');
    const ssize_t count =
        ::send(engines_[0].get(), page.data(), page.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    said += count > 0 ? static_cast<size_t>(count) : 0;
    turn(1);
  }
  // The window, and what the kernel keeps of each of the two sockets.
  EXPECT_LT(said, stream_window + 1'000'000);
  push_in(engines_[1], "quick");
  turn();
  EXPECT_EQ(taken_from(quick), "quick");
  size_t heard = 0;
  for (int i = 0; i < 100 && heard < said; ++i) {
    heard += taken_from(slow).size();
    turn(2);
  }
  EXPECT_EQ(heard, said);
}

TEST_F(StreamsTest, TwoThatSayMuchShareTheLine) {
  const Descriptor first = open(), second = open();
  turn();
  size_t from_first = 0, from_second = 0;
  const std::string page(60'000, 'x');
  for (int i = 0; i < 500; ++i) {
    for (const Descriptor& engine : engines_)
      static_cast<void>(
          !::send(engine.get(), page.data(), page.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    turn(1);
    from_first += taken_from(first).size();
    from_second += taken_from(second).size();
  }
  EXPECT_GT(from_first, 5'000'000u);
  EXPECT_GT(from_second, from_first / 2);
  EXPECT_GT(from_first, from_second / 2);
}

TEST_F(StreamsTest, AThousandOneAfterAnother) {
  for (int i = 0; i < 1'000; ++i) {
    const Descriptor client = open();
    push_in(client, cat("q", i));
    turn(3);
    ASSERT_EQ(engines_.size(), 1u) << i;
    ASSERT_EQ(taken_from(engines_[0]), cat("q", i));
    push_in(engines_[0], cat("a", i));
    engines_.clear();
    turn(5);
    ASSERT_EQ(taken_from(client), cat("a", i, "|"));
    ASSERT_EQ(counts(), none) << i;
  }
}

TEST_F(StreamsTest, MegabytesInBothDirectionsAtOnceAreTheSame) {
  const Descriptor client = open();
  turn();
  std::string there, back, to_engine, to_client;
  for (int i = 0; to_engine.size() < 5'000'000; ++i)
    to_engine += cat(i, ",");
  to_client = to_engine.substr(17) + "end";
  size_t up = 0, down = 0;
  const auto say = [](const Descriptor& socket, const std::string& text, size_t& at) {
    const ssize_t count = ::send(socket.get(), text.data() + at,
                                 std::min<size_t>(text.size() - at, 70'000), MSG_DONTWAIT);
    at += count > 0 ? static_cast<size_t>(count) : 0;
  };
  for (int i = 0; i < 20'000 && (there.size() < to_engine.size() || back.size() < to_client.size());
       ++i) {
    say(client, to_engine, up);
    say(engines_[0], to_client, down);
    turn(1);
    if (i % 3 != 0)
      there += taken_from(engines_[0]);
    if (i % 7 == 0)
      back += taken_from(client);
  }
  EXPECT_TRUE(there == to_engine) << there.size();
  EXPECT_TRUE(back == to_client) << back.size();
}

TEST_F(StreamsTest, WhyThereIsNoEngineIsToldInItsPlace) {
  refuses_ = true;
  const Descriptor client = open();
  push_in(client, "GET /");
  turn();
  EXPECT_EQ(taken_from(client), "502 nobody is there|");
  EXPECT_EQ(server_->streams().count(), 1u) << "until the client has closed";
}

TEST_F(StreamsTest, TooManyAreToldSo) {
  std::vector<Descriptor> clients;
  for (size_t i = 0; i < most; ++i)
    clients.push_back(open());
  Descriptor more = open();
  push_in(more, "GET /");
  turn();
  EXPECT_EQ(engines_.size(), most);
  EXPECT_EQ(taken_from(more), "503 too many|");
  more.close();
  clients.pop_back();
  turn();
  const Descriptor next = open();
  push_in(next, "in");
  turn();
  EXPECT_EQ(taken_from(engines_.back()), "in");
}

TEST_F(StreamsTest, WhatBreaksTheRulesEndsTheLine) {
  const std::string rules = "the other side said something that breaks the rules";
  const auto with = [](std::string_view rest) { return cat(first_stream, rest); };
  const std::string too_much(stream_window + 1, 'x');
  struct Case {
    FrameType type;
    std::string payload;
  };
  const std::vector<Case> cases{
      {FrameType::stream_bytes, "short"},
      {FrameType::stream_bytes, std::string(8, '\0')},
      {FrameType::stream_bytes,
       "\xff\xff\xff\xff\xff\xff\xff\xff"
       "x"},
      {FrameType::stream_end, std::string(7, '\0') + "\2"},
      {FrameType::stream_bytes, with(too_much)},
      {FrameType::stream_taken, with("")},
      {FrameType::stream_taken, with(std::string("\0\0\0\1", 4))},
      {FrameType::stream_taken, with("\xff\xff\xff\xff")},
      {FrameType::stream_end, with("x")},
      {FrameType::stream_open, with("")},
      {FrameType::alive, "x"},
      {FrameType::command, "{}"},
      {FrameType::agent, "{}"},
  };
  for (const Case& one : cases) {
    auto [a, b] = two_sockets();
    server_.reset();
    agent_.reset();
    a_.emplace(std::move(a));
    b_.emplace(std::move(b));
    server_.emplace(*a_, most, 30s, std::stop_token());
    const Descriptor client = open();
    EXPECT_TRUE(turn_server());
    EXPECT_EQ(end_by(one.type, one.payload), rules)
        << static_cast<char>(one.type) << " " << one.payload.size();
    EXPECT_TRUE(a_->is_gone());
  }
}

TEST_F(StreamsTest, GarbageEndsTheLine) {
  b_->send_packed("GET / HTTP/1.1\r\n\r\n");
  b_->push();
  EXPECT_FALSE(turn_server());
  EXPECT_TRUE(a_->is_gone());
}

TEST_F(StreamsTest, FramesOfAStreamThatHasEndedMeanNothing) {
  Descriptor client = open();
  turn();
  client.close();
  turn();
  EXPECT_EQ(counts(), none);
  for (const FrameType type : {FrameType::stream_bytes, FrameType::stream_end,
                               FrameType::stream_taken, FrameType::stream_break})
    EXPECT_EQ(end_by(type, cat(first_stream, "late")), "");
}

TEST(AgentLines, ASideThatIsSilentIsGone) {
  auto [a, b] = two_sockets();
  Line line(std::move(a));
  AgentLine one(line, 1, 300ms, {});
  const auto began = std::chrono::steady_clock::now();
  Status end;
  while (end)
    end = one.turn({}, [](const Frame&) -> Result<bool> { return true; });
  EXPECT_EQ(end.error().message, "nothing was heard for 0 s");
  EXPECT_GE(std::chrono::steady_clock::now() - began, 300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
  std::string said = taken_from(b);
  EXPECT_TRUE(said.starts_with(std::string("h\0\0\0\0h\0\0\0\0", 10)))
      << "it was not silent itself";
}

TEST(AgentLines, WhatCameWithTheFirstFrameIsHeardAtOnce) {
  auto [a, b] = two_sockets();
  Line line(std::move(a)), other(std::move(b));
  other.send(FrameType::agent);
  other.send(FrameType::stream_open, std::string(first_stream) + "e");
  ASSERT_TRUE(other.push_all(20s));
  ASSERT_TRUE(line.await(20s));
  AgentLine agent(line, 1, 300s, {});
  Descriptor engine;
  const auto hear = [&](const Frame& frame) -> Result<bool> {
    return agent.streams().join(frame, [&](StreamGoal) -> Result<Descriptor> {
      auto [theirs, ours] = two_sockets();
      engine = std::move(theirs);
      push_in(engine, "hello");
      return std::move(ours);
    });
  };
  EXPECT_TRUE(agent.turn({}, hear));
  EXPECT_TRUE(engine.is_open());
}

TEST(AgentLines, TwoThatAreThereStayThere) {
  auto [a, b] = two_sockets();
  Line one(std::move(a)), other(std::move(b));
  std::stop_source stop;
  const auto live = [&](Line& line) {
    AgentLine agent(line, 1, 90ms, stop.get_token());
    Status end;
    while (end)
      end = agent.turn({}, [](const Frame&) -> Result<bool> { return true; });
    EXPECT_TRUE(is_cancelled(end.error())) << end.error().message;
  };
  std::jthread first([&] { live(one); }), second([&] { live(other); });
  std::this_thread::sleep_for(500ms);
  stop.request_stop();
}

}  // namespace
}  // namespace fettle
