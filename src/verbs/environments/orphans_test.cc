/// What is left of services that a package no longer wants.

#include "workplace/orphans.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/fixtures/package_fixture.h"

namespace fettle {
namespace {

class OrphansTest : public RunPackageTest {
 protected:
  Known known() { return *home_.store().known("e"); }
  /// The keys of all orphans.
  std::string orphans() {
    std::string text;
    for (const Orphan& orphan : orphans_of(known(), *place_.kinds))
      text += cat(text.empty() ? "" : " ", to_string(orphan.key));
    return text;
  }
  Result<ChosenOrphans> named(std::vector<std::string> words) {
    return find_orphans(place_, *find_environment(place_, "e"), words);
  }
};

TEST_F(OrphansTest, WhatAScriptNoLongerWantsIsListedUntilItIsWantedAgain) {
  ASSERT_EQ(run(add("a") + add("b")), "RR");
  EXPECT_EQ(orphans(), "");
  ASSERT_EQ(run(add("a")), "S");
  EXPECT_EQ(orphans(), "service/b");
  ASSERT_EQ(run(add("a")), "S");
  EXPECT_EQ(orphans(), "service/b");
  ASSERT_EQ(run(add("a") + add("b")), "SS");
  EXPECT_EQ(orphans(), "");
}

TEST_F(OrphansTest, ALaterPruneFindsIt) {
  ASSERT_EQ(run(add("a") + add("b")), "RR");
  ASSERT_EQ(run(add("a")), "S");
  request_.leftover = Leftover::remove;
  ASSERT_EQ(run(add("a")), "S");
  EXPECT_EQ(orphans(), "");
  EXPECT_FALSE(known().contains({"e", "service", "b"}));
  EXPECT_TRUE(known().contains({"e", "service", "a"}));
}

TEST_F(OrphansTest, OneIsRemovedByItsNameAndAllElseStays) {
  ASSERT_EQ(run(add("a") + add("b") + add("c")), "RRR");
  ASSERT_EQ(run(add("a")), "S");
  ASSERT_EQ(orphans(), "service/b service/c");
  const auto going = named({"b"});
  ASSERT_TRUE(going) << to_string(going.error());
  const auto edit = begin_edit(place_, "e", false);
  ASSERT_TRUE(edit);
  const Result<Summary> summary = remove_orphans(place_, **edit, going->going);
  ASSERT_TRUE(summary) << to_string(summary.error());
  EXPECT_TRUE(summary->good());
  EXPECT_EQ(orphans(), "service/c");
  EXPECT_FALSE(known().contains({"e", "service", "b"}));
  // Whose they are is as it was.
  EXPECT_FALSE(is_orphan(*known().at({"e", "service", "a"})));
}

TEST_F(OrphansTest, AWrongNameIsToldWithWhatIsNear) {
  ASSERT_EQ(run(add("a") + add("cache")), "RR");
  ASSERT_EQ(run(add("a")), "S");
  const auto wrong = named({"service/cach"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "`e` has no orphan `service/cach`, did you mean `service/cache`?");
  // What is wanted is none.
  EXPECT_FALSE(named({"a"}));
}

TEST_F(OrphansTest, WhatIsStillUsedStaysAndSaysByWhat) {
  ASSERT_EQ(run(add("a") + add("b")), "RR");
  ASSERT_EQ(run(add("a")), "S");
  // What is wanted uses `b`.
  Record user = *known().at({"e", "service", "a"});
  Resource then = *user.applied;
  then.needs.push_back({{{"e", "service", "b"}}});
  user.applied = then;
  const auto edit = begin_edit(place_, "e", false);
  ASSERT_TRUE(edit);
  const Change change{Change::record, user.applied->key, std::make_shared<const Record>(user), {}};
  ASSERT_TRUE((*edit)->write(std::span(&change, 1)));
  const auto all = named({});
  ASSERT_TRUE(all) << to_string(all.error());
  EXPECT_TRUE(all->going.empty());
  ASSERT_EQ(all->used.size(), 1u);
  EXPECT_EQ(to_string(all->used[0].key), "service/b");
  EXPECT_EQ(to_string(all->used[0].user), "service/a");
  EXPECT_EQ(named({"b"}).error().message, "`service/b` is still used by `service/a`");
}

}  // namespace
}  // namespace fettle
