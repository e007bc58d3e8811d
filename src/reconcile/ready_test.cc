#include "reconcile/ready.h"

#include <list>

#include <gtest/gtest.h>

#include "tests/fixtures/stage.h"

namespace fettle {
namespace {

using Names = std::vector<std::string>;

/// Resources named by a letter, each with its needs: `{"a", ""}, {"b", "a"}`.
class ReadyTest : public testing::Test {
 protected:
  using Wishes = std::vector<std::pair<std::string, std::string>>;
  void want(const Wishes& wishes) {
    Intent& intent = intents_.emplace_back();
    intent.environment = "e";
    for (const auto& [name, needs] : wishes) {
      Resource resource;
      resource.key = key(name);
      for (const char need : needs)
        resource.needs.push_back({{key({need})}});
      intent.resources["p"].push_back(std::move(resource));
    }
    Result<Graph> built = Graph::build(intent, {}, {}, kinds_);
    INVARIANT(built.has_value());
    graph_ = std::make_unique<Graph>(std::move(*built));
    ready_ = Ready(*graph_);
  }
  static Key key(const std::string& name) { return {"e", "thing", name}; }
  NodeId id(const std::string& name) const { return graph_->find(key(name)); }
  std::string name(NodeId id) const { return graph_->node(id).key->name.str(); }
  /// All nodes that can be decided, in their order.
  std::string taken() {
    std::string names;
    while (!ready_.empty())
      names += name(ready_.take());
    return names;
  }
  /// It answers; returns those that went on with another answer.
  std::string answer(const std::string& of, uint64_t answer = 1) {
    std::string names;
    for (const NodeId id : ready_.answer(id(of), Standing::changed, {answer, 0}))
      names += name(id);
    return names;
  }

  StageKinds kinds_;
  std::list<Intent> intents_;  ///< which graphs borrow from
  std::unique_ptr<Graph> graph_;
  Ready ready_;
};

TEST_F(ReadyTest, WhatNeedsNothingComesFirstAndTheRestWhenAllItsNeedsHaveAnswered) {
  want({{"a", ""}, {"b", "a"}, {"c", ""}, {"d", "ac"}});
  ready_.count();
  EXPECT_EQ(taken(), "ac");
  EXPECT_EQ(answer("c"), "");
  EXPECT_EQ(taken(), "");
  EXPECT_TRUE(ready_.waits(id("d")));
  EXPECT_EQ(answer("a"), "");
  EXPECT_EQ(taken(), "bd");
  EXPECT_EQ(ready_.standing(id("a")), Standing::changed);
  EXPECT_EQ(ready_.standing(id("b")), Standing::open);
}

TEST_F(ReadyTest, TheOrderOfTheGraphDecidesAndNotThatOfComing) {
  want({{"a", ""}, {"b", ""}, {"c", ""}});
  ready_.count();
  EXPECT_EQ(taken(), "abc");
  for (const char* late : {"c", "a", "b", "a"})
    ready_.put(id(late));
  EXPECT_EQ(taken(), "aabc");
  EXPECT_LT(ready_.place(id("a")), ready_.place(id("c")));
}

TEST_F(ReadyTest, AnotherAnswerConcernsThoseThatHaveGoneOnAndTheSameOneNobody) {
  want({{"a", ""}, {"b", "a"}, {"c", "ab"}});
  ready_.count();
  EXPECT_EQ(taken(), "a");
  answer("a", 1);
  EXPECT_EQ(taken(), "b");
  EXPECT_EQ(answer("a", 1), "");
  EXPECT_EQ(answer("a", 2), "bc");
  EXPECT_EQ(taken(), "");
  // None was counted down twice: this one still waits.
  EXPECT_TRUE(ready_.waits(id("c")));
  answer("b");
  EXPECT_EQ(taken(), "c");
}

TEST_F(ReadyTest, WhoIsDeferredIsDecidedAtTheNextAnswerWhateverItIs) {
  for (const uint64_t next : {uint64_t(1), uint64_t(2)}) {
    want({{"a", ""}, {"b", "a"}, {"c", "a"}});
    ready_.count();
    taken();
    answer("a", 1);
    EXPECT_EQ(taken(), "bc");
    ready_.defer(id("b"));
    EXPECT_EQ(answer("a", next), next == 1 ? "" : "c");
    EXPECT_EQ(taken(), "b");
    EXPECT_EQ(answer("a", next), "");
    EXPECT_EQ(taken(), "");
  }
}

TEST_F(ReadyTest, AnotherGraphGoesOnWithTheAnswersThatThereAre) {
  want({{"a", ""}, {"b", "a"}, {"x", ""}});
  ready_.count();
  answer("a", 7);
  ready_.stand(id("b"), Standing::under_way);
  const std::unique_ptr<Graph> graph = std::move(graph_);
  const Ready before = ready_;

  want({{"n", ""}, {"a", ""}, {"b", "a"}, {"c", "b"}, {"d", "a"}});
  for (const char* same : {"a", "b"})
    ready_.carry_over(id(same), before, graph->find(key(same)));
  ready_.count();
  EXPECT_EQ(taken(), "nd");  // `a` has answered, `b` is under way
  EXPECT_TRUE(ready_.has_answered(id("a")));
  EXPECT_EQ(answer("a", 7), "");
  EXPECT_EQ(answer("a", 8), "bd");
  EXPECT_EQ(answer("b"), "");
  EXPECT_EQ(taken(), "c");
}

}  // namespace
}  // namespace fettle
