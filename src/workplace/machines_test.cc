#include "workplace/machines.h"

#include <gtest/gtest.h>

#include "reconcile/executor.h"
#include "tests/fixtures/home.h"
#include "tests/fixtures/workplace_setup.h"
#include "workplace/edit.h"

namespace fettle {
namespace {

class NamedMachine : public Machine {
 public:
  explicit NamedMachine(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  Driver& driver() override { std::abort(); }
  Status begin_states(const Value&, std::stop_token) override { return {}; }
  Result<Value> ask_states(const Value&, std::stop_token) override { return Value(); }
  std::vector<Value> take_additions() override { return {}; }

 private:
  std::string name_;
};

class MachinesTest : public testing::Test {
 protected:
  MachinesTest() {
    place_.store = &home_.store();
    place_.machines = &machines_;
    machines_.is_of_machine = [](std::string_view kind) { return kind == "file"; };
    machines_.find = [this](const std::string& name) -> Result<Machine*> {
      machine_ = std::make_unique<NamedMachine>(name);
      return machine_.get();
    };
  }
  /// Of an edit, with a thing of this kind.
  Status edited(const Name& kind) {
    const std::unique_ptr<Edit> edit = home_.edit("e");
    TRY(remember_machine(place_, *edit));
    auto record = std::make_shared<Record>();
    Resource& applied = record->applied.emplace();
    applied.key = {"e", kind, "x"};
    const Change change{Change::record, applied.key, record, {}};
    TRY(edit->put_environment({"e", "u", {}, {}}));
    return edit->write(std::span(&change, 1));
  }
  std::string name() {
    const Result<std::string> found = machine_name(place_, "e");
    return found ? *found : found.error().message;
  }

  TestHome home_;
  Machines machines_;
  std::unique_ptr<NamedMachine> machine_;
  Workplace place_;
};

TEST_F(MachinesTest, AnEnvironmentRemembersItsMachine) {
  EXPECT_EQ(name(), "");
  EXPECT_EQ(*machine_of(place_, "e"), nullptr);
  machines_.asked = "b";
  EXPECT_EQ(name(), "b");
  ASSERT_TRUE(edited("file"));
  machines_.asked.clear();
  EXPECT_EQ(name(), "b");
  EXPECT_EQ((*machine_of(place_, "e"))->name(), "b");
  EXPECT_EQ(machines_.found->find("e"), "b") << "acts know it without the store";
  EXPECT_EQ(machines_.found->find("other"), std::nullopt);
}

TEST_F(MachinesTest, ItMovesOnlyWithoutThingsThere) {
  machines_.asked = "b";
  ASSERT_TRUE(edited("service"));
  machines_.asked = "c";
  EXPECT_EQ(name(), "c") << "a service is not of a machine";
  ASSERT_TRUE(edited("file"));
  machines_.asked = "b";
  EXPECT_EQ(name(),
            "`e` is on `c`, not on `b`, and what is there would stay: choose another environment "
            "(`-e`), or remove this one first (`fettle enclave rm e`)");
  EXPECT_FALSE(edited("file"));
}

TEST_F(MachinesTest, WhatIsHereIsNotElsewhere) {
  ASSERT_TRUE(edited("file"));
  machines_.asked = "b";
  EXPECT_TRUE(name().starts_with("`e` is on the machine where its state is kept, not on `b`"))
      << name();
}

TEST_F(MachinesTest, SomebodyElsesCommandNamesOne) {
  machines_.is_here_refused = true;
  const Result<Machine*> machine = machine_of(place_, "e");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().blame, Blame::user);
  EXPECT_NE(machine.error().message.find("--on HOST"), std::string::npos);
  (*machines_.asked_for)["e"] = "b";
  EXPECT_EQ((*machine_of(place_, "e"))->name(), "b");
  EXPECT_FALSE(machine_of(place_, "other"));
}

TEST_F(MachinesTest, DriversHaveMachinesInTheirNames) {
  EXPECT_EQ(machine_of_driver(driver_on("host", "web1")), "web1");
  EXPECT_EQ(machine_of_driver("handler@b.c"), "b.c");
  EXPECT_EQ(machine_of_driver("host"), "");
  EXPECT_EQ(machine_of_driver("engine@node"), "") << "a node of a fleet";
  EXPECT_EQ(driver_of_machine(machines_, "host"), nullptr);
}

}  // namespace
}  // namespace fettle
