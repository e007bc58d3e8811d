/// Functions of states on another machine: both ends, without the line between them.

#include "verbs/states/states_away.h"

#include "tests/fixtures/states_fixture.h"

namespace fettle {
namespace {

/// The other machine, with what calls states there.
class JoinedMachine : public Machine {
 public:
  explicit JoinedMachine(const Workplace& there) : away(there) {}
  const std::string& name() const override { return name_; }
  Driver& driver() override { return *away.driver(); }
  Status begin_states(const Value& settings, std::stop_token) override {
    return away.begin(settings);
  }
  Result<Value> ask_states(const Value& asked, std::stop_token stop) override {
    ++asked_times;
    return answer.is_null() ? away.answer(asked, std::move(stop)) : Result<Value>(answer);
  }
  std::vector<Value> take_additions() override { return away.take_additions(); }

  StatesAway away;
  Value answer{};  ///< what it says whatever is asked; null: the truth
  int asked_times = 0;

 private:
  std::string name_ = "b";
};

class StatesAwayTest : public StatesTest {
 protected:
  void SetUp() override {
    StatesTest::SetUp();
    machine_ = std::make_unique<JoinedMachine>(place_);
    machines_.asked = "b";
    machines_.is_here_refused = true;
    machines_.is_of_machine = [](std::string_view kind) { return kind == "state"; };
    machines_.find = [this](const std::string&) -> Result<Machine*> { return machine_.get(); };
    here_ = place_;
    here_.machines = &machines_;
  }

  Result<std::unique_ptr<FunctionCalls>> calls(FunctionOptions options = {}) {
    options.environment = "e";
    return FunctionCalls::make(here_, "e", std::move(options));
  }

  Workplace here_;
  Machines machines_;
  std::unique_ptr<JoinedMachine> machine_;
};

TEST_F(StatesAwayTest, FunctionsAreCalledThere) {
  const auto functions = calls();
  ASSERT_TRUE(functions) << to_string(functions.error());
  EXPECT_EQ((*functions)->exec({.path = "test.ping"})->at("ret"), Value(true));
  EXPECT_EQ((*functions)->exec({.path = "test.echo", .positional = {Value("x")}})->at("ret"),
            Value("x"));
  EXPECT_EQ(machine_->asked_times, 2);
  const Result<Value> ran =
      (*functions)
          ->exec({.path = "state.run",
                  .positional = {Value("data.write")},
                  .named = Value::dict({{"name", "w"},
                                        {"file_name", at("made")},
                                        {"template", "text"},
                                        {"parameters", Value::dict({{"a", 1}})}})});
  ASSERT_TRUE(ran) << to_string(ran.error());
  EXPECT_EQ(ran->at("result"), Value(true));
  EXPECT_EQ(*read_file(at("made")), "text");
}

TEST_F(StatesAwayTest, WhatIsNotThereIsAnErrorOfWhoeverAsks) {
  const auto functions = calls();
  ASSERT_TRUE(functions) << to_string(functions.error());
  const Result<Value> unknown = (*functions)->exec({.path = "test.pong"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().blame, Blame::user);
  EXPECT_EQ(unknown.error().message, "there is no exec function `test.pong`");
  const Result<Description> described = (*functions)->describe("cloud.*", false);
  ASSERT_FALSE(described);
  EXPECT_EQ(described.error().blame, Blame::user);
  EXPECT_EQ(described.error().message,
            "no module that matches `cloud.*` has a function `describe`");
}

TEST_F(StatesAwayTest, TheMemoryOfStatesIsAskedHere) {
  const auto functions = calls();
  ASSERT_TRUE(functions) << to_string(functions.error());
  EXPECT_EQ((*functions)->exec({.path = "esm.version"})->at("ret"), Value("2.0.0"));
  EXPECT_EQ(machine_->asked_times, 0);
}

TEST_F(StatesAwayTest, ADescriptionComesWithItsWarnings) {
  const auto functions = calls();
  ASSERT_TRUE(functions) << to_string(functions.error());
  machine_->answer =
      *read_json(R"({"states": {"vm": {"cloud.vm.present": []}}, "warnings": ["w"]})");
  const Result<Description> described = (*functions)->describe("cloud.*", false);
  ASSERT_TRUE(described) << to_string(described.error());
  EXPECT_EQ(write_json(described->states), R"({"vm":{"cloud.vm.present":[]}})");
  ASSERT_EQ(described->warnings.size(), 1u);
  EXPECT_EQ(described->warnings[0].message, "w");
  machine_->answer = Value("something else");
  const Result<Description> wrong = (*functions)->describe("cloud.*", false);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "the agent `b` answers something else");
}

TEST_F(StatesAwayTest, NobodyGuessesAMachineOrSendsModules) {
  put_state("def present(ctx, name):\n    return None\n");
  const auto own = calls({.folders = {folder_->path()}});
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().blame, Blame::user);
  EXPECT_NE(own.error().message.find("is a module of your own"), std::string::npos);
  machines_.asked.clear();
  const auto nowhere = calls();
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().blame, Blame::user);
  EXPECT_NE(nowhere.error().message.find("--on HOST"), std::string::npos);
  const Result<size_t> restored =
      remember_states(here_, "e", *read_json(R"({"test_|-a_|-a_|-": {"x": 1}})"), true);
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find("--on HOST"), std::string::npos);
  machines_.asked = "b";
  ASSERT_TRUE(remember_states(here_, "e", *read_json(R"({"test_|-a_|-a_|-": {"x": 1}})"), true));
  machines_.asked.clear();
  EXPECT_EQ(*machine_name(here_, "e"), "b") << "it is remembered";
}

TEST_F(StatesAwayTest, WhatIsNoQuestionIsRefused) {
  EXPECT_FALSE(machine_->away.answer(Value::dict({{"describe", "*"}}), {})) << "it has not begun";
  ASSERT_TRUE(machine_->begin_states(settings_of_states({}, {}), {}));
  for (const char* const asked : {"{}", "[]", R"({"exec": 1})", R"({"describe": {}})"}) {
    const Result<Value> answer = machine_->away.answer(*read_json(asked), {});
    ASSERT_FALSE(answer) << asked;
    EXPECT_EQ(answer.error().blame, Blame::world) << asked;
  }
  const Result<Value> nameless =
      machine_->away.answer(*read_json(R"({"exec": {"named": 1, "positional": 2}})"), {});
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().message, "there is no exec function ``");
}

}  // namespace
}  // namespace fettle
