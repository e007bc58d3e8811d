#include "verbs/fleet/nodes.h"

#include <gtest/gtest.h>

#include "tests/fixtures/home.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

class NodesTest : public testing::Test {
 protected:
  NodesTest() {
    place_.store = &home_.store();
    place_.interrupt = &interrupt_;
    place_.driver = [](const Name&) -> Driver* { return nullptr; };
  }
  static NodeSpec node(const std::string& name) {
    return {.name = name, .engine = "unix:///run/" + name, .labels = {{"zone", "a"}}, .pulls = 3};
  }
  std::string complaint(const Status& status) { return status ? "none" : status.error().message; }

  TestHome home_;
  Interrupt interrupt_;
  Workplace place_;
};

TEST_F(NodesTest, BelongToTheHomeAndAreListedByName) {
  ASSERT_TRUE(add_node(place_, node("n2")));
  ASSERT_TRUE(add_node(place_, node("n1")));
  home_.open();
  const auto nodes = nodes_of(home_.store());
  ASSERT_TRUE(nodes) << to_string(nodes.error());
  EXPECT_EQ(*nodes, (std::vector<NodeSpec>{node("n1"), node("n2")}));
  place_.store = &home_.store();
  ASSERT_TRUE(cordon_node(place_, "n1", true));
  EXPECT_TRUE((*node_of(home_.store(), "n1"))->is_cordoned);
  EXPECT_FALSE((*node_of(home_.store(), "n2"))->is_cordoned);
  ASSERT_TRUE(cordon_node(place_, "n1", false));
  EXPECT_EQ(*node_of(home_.store(), "n1"), node("n1"));
  ASSERT_TRUE(remove_node(place_, "n1"));
  EXPECT_EQ(nodes_of(home_.store())->size(), 1u);
}

TEST_F(NodesTest, WhatCannotBeIsRefusedAndNothingIsChanged) {
  ASSERT_TRUE(add_node(place_, node("n1")));
  const std::vector<std::pair<NodeSpec, std::string>> cases{
      {node("n1"), "there is a node `n1` already"},
      {node("N"),
       "`N` is not a name for a node: use at most 63 lower case letters, digits, `-` and `.`, with "
       "a letter or digit first and last"},
      {NodeSpec{.name = "x", .engine = "unix:///x", .pulls = 0},
       "a node pulls from 1 to 100 images at a time, not 0"},
      {NodeSpec{.name = "x", .engine = "unix:///x", .labels = {{"a b", "c"}}},
       "`a b` is not a name for a label"}};
  for (const auto& [wrong, message] : cases)
    EXPECT_EQ(complaint(add_node(place_, wrong)), message);
  EXPECT_FALSE(add_node(place_, node("a|b")));
  EXPECT_FALSE(add_node(place_, node("")));
  EXPECT_EQ(complaint(remove_node(place_, "n2")), "there is no node `n2`, did you mean `n1`?");
  EXPECT_EQ(complaint(cordon_node(place_, "other", true)), "there is no node `other`");
  EXPECT_EQ(nodes_of(home_.store())->size(), 1u);
}

TEST_F(NodesTest, OneThatSomethingIsOnIsNotForgotten) {
  ASSERT_TRUE(add_node(place_, node("n1")));
  {
    const auto edit = home_.edit("fleet");
    ASSERT_TRUE(edit->put_environment({"fleet", "u", {}, {}}));
    auto record = std::make_shared<Record>();
    record->applied.emplace();
    record->applied.edit().key = {"fleet", "pod", "n1|default/web-1"};
    record->applied.edit().driver = engine_of_node("n1");
    const Change change{Change::record, record->applied->key, record, {}};
    ASSERT_TRUE(edit->write(std::span(&change, 1)));
  }
  EXPECT_EQ(
      complaint(remove_node(place_, "n1")),
      "`pod/default/web-1` is on node `n1`; `fettle node drain n1` removes its pods; `--lost` "
      "forgets them with a node that never comes back");
  const auto views = look_at_nodes(place_);
  ASSERT_TRUE(views) << to_string(views.error());
  ASSERT_EQ(views->size(), 1u);
  EXPECT_EQ(views->front().pods, 1u);
  EXPECT_FALSE(views->front().answers);
  EXPECT_EQ(views->front().why, "node `n1` no longer exists") << "no driver is there for it";
  place_.clock = [] { return Time(); };
  EXPECT_EQ(complaint(remove_node(place_, "n1", true)), "none");
  EXPECT_TRUE(nodes_of(home_.store())->empty());
  EXPECT_TRUE(home_.store().known("fleet")->empty());
}

TEST_F(NodesTest, WhatWasDrainedHoldsNoNode) {
  ASSERT_TRUE(add_node(place_, node("n1")));
  const Key key{"fleet", "pod", "n1|default/web-1"};
  {
    const auto edit = home_.edit("fleet");
    ASSERT_TRUE(edit->put_environment({"fleet", "u", {}, {}}));
    auto record = std::make_shared<Record>();
    record->applied.emplace();
    record->applied.edit().key = key;
    record->applied.edit().driver = engine_of_node("n1");
    record->by_hand = ByHand::removed;
    const Change change{Change::record, key, record, {}};
    ASSERT_TRUE(edit->write(std::span(&change, 1)));
  }
  place_.clock = [] { return Time(); };
  EXPECT_EQ(complaint(remove_node(place_, "n1")), "none");
  EXPECT_TRUE(home_.store().known("fleet")->empty()) << "nobody could say that it is gone";
}

TEST_F(NodesTest, OneThatIsAwayKeepsItsPodsAndTakesNoMore) {
  ASSERT_TRUE(add_node(place_, node("n1")));
  {
    const auto edit = home_.edit("fleet");
    ASSERT_TRUE(edit->put_environment({"fleet", "u", {}, {}}));
    auto record = std::make_shared<Record>();
    record->applied.emplace();
    record->applied.edit().key = {"fleet", "pod", "n1|default/web-1"};
    record->applied.edit().driver = engine_of_node("n1");
    const Change change{Change::record, record->applied->key, record, {}};
    ASSERT_TRUE(edit->write(std::span(&change, 1)));
  }
  std::vector<std::string> told;
  place_.notice = [&](const std::string& text) { told.push_back(text); };
  const auto drained = drain_node(place_, "n1", false);
  ASSERT_TRUE(drained) << to_string(drained.error());
  EXPECT_EQ(drained->blocked, 1u);
  EXPECT_EQ(told, (std::vector<std::string>{
                      "node `n1` does not answer: node `n1` no longer exists",
                      "it takes no new pods; 1 pod stays there, to be drained when it answers"}));
  EXPECT_TRUE((*node_of(home_.store(), "n1"))->is_cordoned);
}

TEST(Engines, ADriversNameSaysWhereItIs) {
  EXPECT_EQ(engine_of_node(""), "engine");
  EXPECT_EQ(engine_of_node("n1"), "engine@n1");
  EXPECT_EQ(node_of_engine("engine@n1"), "n1");
  EXPECT_EQ(node_of_engine("engine"), "");
  EXPECT_TRUE(is_engine("engine") && is_engine("engine@n1"));
  EXPECT_FALSE(is_engine("host") || is_engine("engines"));
}

}  // namespace
}  // namespace fettle
