/// Both ends of acts on another machine, over real sockets. What acts there is a small world.

#include "drivers/agent/agent_machine.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>

#include "base/condition.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"
#include "base/wait.h"
#include "core/open_payload.h"
#include "drivers/agent/act_codec.h"
#include "drivers/agent/act_host.h"
#include "tests/fixtures/memory_blobs.h"

namespace fettle {
namespace {

std::pair<Descriptor, Descriptor> socket_pair() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The same contents, from any thread.
class SharedBlobs : public Blobs {
 public:
  Result<std::unique_ptr<Draft>> begin() override { return kept.begin(); }
  Result<bool> has(std::string_view digest) override {
    const std::lock_guard lock(mutex_);
    return kept.has(digest);
  }
  Result<Blob> open(std::string_view digest) override {
    const std::lock_guard lock(mutex_);
    ++opened;
    return kept.open(digest);
  }
  MemoryBlobs kept;
  std::atomic<int> opened = 0;

 private:
  std::mutex mutex_;
};

/// Does what the attributes of an act say.
class SmallWorld : public Driver {
 public:
  explicit SmallWorld(Blobs& blobs) : blobs_(blobs) {}

  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token) override {
    std::vector<Observation> seen;
    for (const Subject& subject : subjects)
      seen.push_back({State(Value::dict({{"name", subject.key.name}})), false, "", 0});
    ++looks;
    return seen;
  }
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override {
    const Value& asked = dict_of(act.attributes);
    ++begun;
    for (int64_t i = 0; i < asked.integer_at("lines"); ++i)
      progress({cat("line ", i), i, 0});
    if (const std::string_view fails = asked.text_at("fails"); !fails.empty())
      return world_error(std::string(fails));
    if (const std::string digest(asked.text_at("digest")); !digest.empty())
      return Done{Value::dict(
          {{"size", static_cast<int64_t>(TRY(read_blob(blobs_, digest, 1 << 30)).size())}})};
    TRY(pause_for(std::chrono::milliseconds(asked.integer_at("pause")), stop));
    return Done{Value::dict({{"name", act.key.name}})};
  }
  Result<std::vector<Found>> list(const Name&, std::stop_token) override {
    return std::vector<Found>();
  }
  std::atomic<int> looks = 0, begun = 0;

 private:
  Blobs& blobs_;
};

class AgentMachineTest : public testing::Test {
 protected:
  AgentMachineTest() {
    place_.connect = [this]() -> Result<Descriptor> {
      if (!is_there_)
        return world_error("the agent `b` is not connected");
      auto [ours, theirs] = socket_pair();
      ++streams_;
      agents_.emplace_back(
          [this, socket = std::move(theirs)]() mutable { serve(std::move(socket)); });
      return std::move(ours);
    };
    place_.tell = [this](const std::string& text) { told_ = text; };
    machine_ = std::make_unique<AgentMachine>("b", place_, here_);
  }
  ~AgentMachineTest() override { machine_.reset(); }

  void serve(Descriptor socket) {
    ActLine& line = new_line(std::move(socket));
    line_ = &line;
    FarBlobs blobs(there_, line);
    SmallWorld world(blobs);
    world_ = &world;
    ActHost host;
    host.driver = [&](const Name& kind) -> Result<Driver*> {
      if (kind == "command")
        return user_error("the agent of this machine allows no commands");
      if (kind == "state" && states_.empty())
        return world_error("the server does not say how states are called");
      return &world;
    };
    host.begin_states = [&](const Value& settings) {
      states_.push_back(settings);
      return Status();
    };
    host.ask_states = [&](const Value& asked, std::stop_token stop) -> Result<Value> {
      ++asked_;
      if (const std::string_view fails = asked.text_at("fails"); !fails.empty())
        return user_error(std::string(fails));
      TRY(pause_for(std::chrono::milliseconds(asked.integer_at("pause")), stop));
      return Value::dict({{"ret", asked.at("give")}});
    };
    host.take_additions = [&] { return std::exchange(additions_, {}); };
    Status end = serve_acts(line, blobs, host);
    const std::lock_guard lock(mutex_);
    ended_ = std::move(end);
  }

  ActLine& new_line(Descriptor socket) {
    const std::lock_guard lock(mutex_);
    return *lines_.emplace_back(std::make_unique<ActLine>(std::move(socket)));
  }

  Result<Outcome> apply(const std::string& name, Value attributes, std::stop_token stop = {},
                        const ProgressSink& progress = {}, const Name& kind = "file") {
    Act act;
    act.key = {"e", kind, Name(name)};
    act.verb = Verb::create;
    act.attributes = std::move(attributes);
    return machine_->driver().apply(act, progress, std::move(stop));
  }
  static Value asks(const char* what, Value value) {
    return Value::dict({{what, std::move(value)}});
  }
  static std::string name_of(const Result<Outcome>& outcome) {
    if (!outcome)
      return to_string(outcome.error());
    return std::string(dict_of(std::get<Done>(*outcome).outputs).text_at("name"));
  }

  Status ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  SharedBlobs here_, there_;
  bool is_there_ = true;
  int streams_ = 0;
  std::atomic<int> asked_ = 0;
  std::string told_;
  std::vector<Value> states_, additions_;
  std::mutex mutex_;                            ///< guards what follows, and `ended_`
  std::deque<std::unique_ptr<ActLine>> lines_;  ///< a test may use one that has just ended
  std::atomic<ActLine*> line_ = nullptr;
  std::atomic<SmallWorld*> world_ = nullptr;
  Status ended_;
  AgentMachine::Place place_;
  std::deque<Thread> agents_;  ///< end before what they use
  std::unique_ptr<AgentMachine> machine_;
};

TEST_F(AgentMachineTest, ManyActsAtOnceAreAnsweredAsTheyEnd) {
  std::vector<std::string> names(64);
  {
    std::deque<Thread> threads;
    for (size_t i = 0; i < names.size(); ++i)
      threads.emplace_back([&, i] {
        names[i] = name_of(apply(cat("f", i), asks("pause", static_cast<int64_t>(64 - i))));
      });
  }
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(names[i], cat("f", i));
  EXPECT_EQ(streams_, 1);
}

TEST_F(AgentMachineTest, LooksGoInPartsAndKeepTheirOrder) {
  std::deque<Resource> wanted;
  std::vector<Subject> subjects;
  for (int i = 0; i < 450; ++i) {
    wanted.emplace_back().key = {"e", "file", Name(cat("f", i))};
    subjects.push_back({wanted.back().key, &wanted.back(), nullptr});
  }
  const auto seen = machine_->driver().observe(subjects, {});
  ASSERT_TRUE(seen) << to_string(seen.error());
  ASSERT_EQ(seen->size(), 450u);
  for (size_t i = 0; i < seen->size(); ++i)
    EXPECT_EQ(dict_of(*(*seen)[i].state).text_at("name"), cat("f", i));
  EXPECT_EQ(world_.load()->looks, 3);
}

TEST_F(AgentMachineTest, ProgressAndErrorsComeBack) {
  std::vector<std::string> lines;
  const auto failed = apply("f", Value::dict({{"lines", 3}, {"fails", "no room"}}), {},
                            [&](const Progress& progress) { lines.push_back(progress.text); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(to_string(failed.error()), "no room");
  EXPECT_FALSE(failed.error().unknown_outcome);
  EXPECT_EQ(lines, (std::vector<std::string>{"line 0", "line 1", "line 2"}));
}

TEST_F(AgentMachineTest, WhatTheAgentDoesNotAllowIsRefusedBeforeTheRunAndInIt) {
  Resource command;
  command.key = {"e", "command", "c"};
  const std::array<const Resource*, 1> wanted{&command};
  const Status ready = machine_->driver().ready(wanted, {});
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().blame, Blame::user);
  EXPECT_EQ(ready.error().message, "the agent of this machine allows no commands");
  EXPECT_FALSE(apply("c", Value::dict({}), {}, {}, "command"));
  EXPECT_EQ(world_.load()->begun, 0);
}

TEST_F(AgentMachineTest, WhoMayOnlyLookHasNothingRunThere) {
  place_.why_only_looks = "programs of others are run for tokens with the right `act`";
  machine_ = std::make_unique<AgentMachine>("b", place_, here_);
  const auto acted = apply("f", Value::dict({}));
  ASSERT_FALSE(acted);
  EXPECT_EQ(acted.error().message, place_.why_only_looks);
  const auto asked = machine_->ask_states(asks("give", 1), {});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message, place_.why_only_looks);
  EXPECT_EQ(streams_, 0) << "it is not even asked";
  Resource wanted;
  wanted.key = {"e", "file", "f"};
  const Subject subject{wanted.key, &wanted, nullptr};
  EXPECT_TRUE(machine_->driver().observe(std::span(&subject, 1), {}));
  EXPECT_EQ(why_only_own_programs(), place_.why_only_looks) << "at the other side";
  machine_.reset();
  why_only_own_programs().clear();
}

TEST_F(AgentMachineTest, AStopReachesTheActAndOnlyThat) {
  std::stop_source stop;
  Result<Outcome> stopped = world_error("not called");
  std::string other;
  {
    Thread one([&] { stopped = apply("slow", asks("pause", 60'000), stop.get_token()); });
    Thread two([&] { other = name_of(apply("quick", asks("pause", 300))); });
    while (world_ == nullptr || world_.load()->begun < 2)
      ASSERT_TRUE(pause_for(2ms, {}));
    stop.request_stop();
  }
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(is_cancelled(stopped.error()));
  EXPECT_EQ(other, "quick");
}

TEST_F(AgentMachineTest, OfWhatWasUnderWayWhenTheStreamEndedNobodyKnowsAnything) {
  Result<Outcome> lost = world_error("not called");
  {
    Thread one([&] { lost = apply("slow", asks("pause", 60'000)); });
    while (world_ == nullptr || world_.load()->begun < 1)
      ASSERT_TRUE(pause_for(2ms, {}));
    line_.load()->close();
  }
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().unknown_outcome);
  EXPECT_NE(lost.error().message.find("connection to the agent `b` was lost"), std::string::npos)
      << lost.error().message;
  EXPECT_EQ(name_of(apply("f", asks("pause", 0))), "f") << "the next one begins another stream";
  EXPECT_EQ(streams_, 2);
}

TEST_F(AgentMachineTest, WhyAnAgentCannotActIsTold) {
  ASSERT_TRUE(apply("f", asks("pause", 0)));
  Result<Outcome> refused = world_error("not called");
  {
    Thread one([&] { refused = apply("slow", asks("pause", 60'000)); });
    while (world_.load()->begun < 2)
      ASSERT_TRUE(pause_for(2ms, {}));
    line_.load()->refuse("the agent cannot act: no room");
  }
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("was lost: the agent cannot act: no room"),
            std::string::npos)
      << refused.error().message;
}

TEST_F(AgentMachineTest, FunctionsOfStatesAreAskedThereOnceTheyHaveBegun) {
  const auto early = machine_->ask_states(asks("give", 1), {});
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().message, "the server does not say how states are called");
  ASSERT_TRUE(machine_->begin_states(asks("run_name", "r"), {}));
  const auto answer = machine_->ask_states(asks("give", "a value"), {});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->text_at("ret"), "a value");
  ASSERT_EQ(states_.size(), 1u);
  EXPECT_EQ(states_[0].text_at("run_name"), "r");
  const auto failed = machine_->ask_states(asks("fails", "there is no exec function `x`"), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().blame, Blame::user);
  EXPECT_EQ(failed.error().message, "there is no exec function `x`");
}

TEST_F(AgentMachineTest, ACallOfAFunctionIsStoppedAndMayBeLost) {
  ASSERT_TRUE(machine_->begin_states(asks("run_name", "r"), {}));
  std::stop_source stop;
  Result<Value> stopped = world_error("not called"), lost = world_error("not called");
  {
    Thread one([&] { stopped = machine_->ask_states(asks("pause", 60'000), stop.get_token()); });
    while (asked_ < 1)
      ASSERT_TRUE(pause_for(2ms, {}));
    stop.request_stop();
  }
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(is_cancelled(stopped.error()));
  {
    Thread one([&] { lost = machine_->ask_states(asks("pause", 60'000), {}); });
    while (asked_ < 2)
      ASSERT_TRUE(pause_for(2ms, {}));
    line_.load()->close();
  }
  ASSERT_FALSE(lost);
  EXPECT_TRUE(lost.error().unknown_outcome);
  EXPECT_EQ(lost.error().message,
            "the connection to the agent `b` was lost; nobody knows what became of the call");
}

TEST_F(AgentMachineTest, AnAgentThatIsNotThereHasDoneNothing) {
  is_there_ = false;
  const auto outcome = apply("f", Value::dict({}));
  ASSERT_FALSE(outcome);
  EXPECT_FALSE(outcome.error().unknown_outcome);
  EXPECT_EQ(outcome.error().message, "the agent `b` is not connected");
}

TEST_F(AgentMachineTest, AContentTravelsOnce) {
  const std::string digest = *here_.put(std::string(20'000'000, 'x'));
  std::vector<Result<Outcome>> outcomes(4, Result<Outcome>(world_error("not called")));
  {
    std::deque<Thread> threads;
    for (Result<Outcome>& outcome : outcomes)
      threads.emplace_back([&] { outcome = apply("f", asks("digest", Value(digest))); });
  }
  for (const Result<Outcome>& outcome : outcomes) {
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    EXPECT_EQ(dict_of(std::get<Done>(*outcome).outputs).integer_at("size"), 20'000'000);
  }
  EXPECT_EQ(here_.opened, 1);
}

TEST_F(AgentMachineTest, AContentThatIsLostOrAnotherOneIsAnError) {
  const std::string lost(64, 'a');
  const auto outcome = apply("f", asks("digest", Value(lost)));
  ASSERT_FALSE(outcome);
  EXPECT_NE(to_string(outcome.error()).find("fetching the content aaaa"), std::string::npos);
  here_.kept.contents[lost] = "something else";
  const auto other = apply("f", asks("digest", Value(lost)));
  ASSERT_FALSE(other);
  EXPECT_NE(to_string(other.error()).find("the server sent another content than `aaaa"),
            std::string::npos)
      << to_string(other.error());
  EXPECT_EQ(name_of(apply("f", asks("pause", 0))), "f");
}

TEST_F(AgentMachineTest, AnAgentGetsOnlyContentsThatItWasToldOf) {
  const std::string named = *here_.put("for it"), other = *here_.put("for another one");
  const std::string list = *here_.put(cat(R"({"code": ")", other, R"("})"));
  ASSERT_TRUE(apply("f", asks("digest", Value(named))));
  const auto ask = [&](const std::string& digest) {
    FarBlobs far(there_, *line_.load());
    return line_.load()->send(ActWord::need, 1'000, digest);
  };
  // Nobody here waits for the answer, which is therefore against the rules.
  ASSERT_TRUE(ask(other));
  for (int i = 0; i < 500 && ended(); ++i)
    ASSERT_TRUE(pause_for(10ms, {}));
  EXPECT_FALSE(there_.kept.contents.contains(other));
  // What a content names that it was told of may be asked for.
  ASSERT_TRUE(apply("f", asks("digest", Value(list))));
  EXPECT_TRUE(there_.kept.contents.contains(list));
}

TEST_F(AgentMachineTest, EachStreamBeginsWithTheStates) {
  additions_ = {Value("added")};
  ASSERT_TRUE(machine_->begin_states(asks("run_name", Value("r")), {}));
  Resource state;
  state.key = {"e", "state", "s"};
  const std::array<const Resource*, 1> wanted{&state};
  ASSERT_TRUE(machine_->driver().ready(wanted, {}));
  ASSERT_TRUE(apply("s", asks("pause", 0), {}, {}, "state"));
  ASSERT_TRUE(apply("t", asks("pause", 0), {}, {}, "state"));
  EXPECT_EQ(states_, std::vector<Value>{asks("run_name", Value("r"))});
  EXPECT_EQ(machine_->take_additions(), std::vector<Value>{Value("added")});
  EXPECT_TRUE(machine_->take_additions().empty());
  line_.load()->close();
  std::string after;
  for (int i = 0; i < 200 && after != "u"; ++i)
    after = name_of(apply("u", asks("pause", 0), {}, {}, "state"));
  EXPECT_EQ(after, "u");
  EXPECT_EQ(states_.size(), 2u);
}

TEST_F(AgentMachineTest, WhatIsToldReachesPeopleWithoutControlCharacters) {
  ASSERT_TRUE(apply("f", asks("pause", 0)));
  ASSERT_TRUE(line_.load()->send(ActWord::told, 0, "hello\x1b[2J"));
  ASSERT_TRUE(apply("g", asks("pause", 0)));
  EXPECT_TRUE(told_.starts_with("hello") && told_.find('\x1b') == told_.npos) << told_;
}

TEST_F(AgentMachineTest, AnActThatIsTooLargeIsRefused) {
  const auto outcome = apply("f", asks("content", Value(std::string(17 << 20, 'x'))));
  ASSERT_FALSE(outcome);
  EXPECT_NE(to_string(outcome.error()).find("too large for another machine"), std::string::npos);
  EXPECT_EQ(name_of(apply("f", asks("pause", 0))), "f");
}

/// What an agent that says these bytes is told.
Error said_by_hostile(const std::string& bytes) {
  MemoryBlobs blobs;
  std::deque<Thread> agents;
  AgentMachine::Place place;
  place.connect = [&]() -> Result<Descriptor> {
    auto [ours, theirs] = socket_pair();
    agents.emplace_back([bytes, socket = std::move(theirs)] {
      std::array<char, 65'536> heard;
      EXPECT_GT(::recv(socket.get(), heard.data(), heard.size(), 0), 0);
      EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(bytes.size()));
      while (::recv(socket.get(), heard.data(), heard.size(), 0) > 0) {
      }
    });
    return std::move(ours);
  };
  AgentMachine machine("b", place, blobs);
  Act act;
  act.key = {"e", "file", "f"};
  const auto outcome = machine.driver().apply(act, {}, {});
  return outcome ? world_error("it was believed") : outcome.error();
}

std::string of_act(std::string_view payload) { return packed(FrameType::act, payload); }

TEST(HostileAgents, BreakTheirStreamAndNothingElse) {
  const std::string first("\0\0\0\0\0\0\0\1", 8), second("\0\0\0\0\0\0\0\2", 8);
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), packed(FrameType::command, "{}"), of_act(""),
        of_act("w"), of_act(cat("Z", first)), of_act(cat("w", second)), of_act(cat("c", first)),
        of_act(cat("a", first)), std::string("A\xff\xff\xff\xff")}) {
    const Error error = said_by_hostile(bytes);
    EXPECT_TRUE(error.unknown_outcome) << printable(bytes);
    EXPECT_NE(error.message.find("the connection to the agent `b` was lost"), std::string::npos)
        << error.message;
  }
  // An answer that is none fails its act alone.
  EXPECT_EQ(said_by_hostile(of_act(cat("w", first, "\x09"))).message,
            "the other side says something that is not about acts");
  EXPECT_NE(said_by_hostile(packed(FrameType::error, R"({"message": "it allows only engine"})"))
                .message.find("it allows only engine"),
            std::string::npos);
}

/// How serving a server ends that says these bytes.
std::string end_of_hostile_server(const std::string& bytes) {
  auto [ours, theirs] = socket_pair();
  MemoryBlobs near;
  Status ended;
  {
    Thread agent([&, socket = std::move(theirs)]() mutable {
      ActLine line(std::move(socket));
      FarBlobs blobs(near, line);
      SmallWorld world(blobs);
      ActHost host;
      host.driver = [&](const Name&) -> Result<Driver*> { return &world; };
      host.begin_states = [](const Value&) { return Status(); };
      host.take_additions = [] { return std::vector<Value>(); };
      ended = serve_acts(line, blobs, host);
    });
    EXPECT_EQ(::send(ours.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    ::shutdown(ours.get(), SHUT_WR);
    std::array<char, 65'536> heard;
    while (::recv(ours.get(), heard.data(), heard.size(), 0) > 0) {
    }
  }
  return ended ? "well" : to_string(ended.error());
}

TEST(HostileServers, EndTheirStream) {
  const std::string first("\0\0\0\0\0\0\0\1", 8);
  const std::string broken = "the server says something that breaks the rules";
  EXPECT_EQ(end_of_hostile_server(""), "well");
  EXPECT_EQ(end_of_hostile_server(of_act(cat("s", first, "\xff"))), broken);
  EXPECT_EQ(end_of_hostile_server(of_act(cat("k", first))), broken);
  EXPECT_EQ(end_of_hostile_server(of_act(cat("e", first))), broken);
  EXPECT_EQ(end_of_hostile_server(of_act(cat("w", first))), broken);
  EXPECT_EQ(end_of_hostile_server(of_act(cat("a", first)) + of_act(cat("a", first))), broken)
      << "one number twice";
  EXPECT_EQ(end_of_hostile_server(of_act(cat("a", first, "\x01"))), "well")
      << "an act that is none fails alone";
}

}  // namespace
}  // namespace fettle
