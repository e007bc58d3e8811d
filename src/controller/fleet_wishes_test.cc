/// What of the wishes of a fleet is due: what a change costs is decided here.

#include "controller/fleet_wishes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "reconcile/run.h"
#include "value/json.h"

namespace fettle {
namespace {

using workloads::Fleet;
using workloads::Object;

class FleetWishesTest : public testing::Test {
 protected:
  static Object clone_set(std::string_view name, int replicas, std::string_view image,
                          std::string_view more = "") {
    Object object;
    object.kind = "CloneSet";
    object.space = "default";
    object.name = name;
    object.document = *read_json(cat(
        R"({"metadata":{},"spec":{"replicas":)", replicas, R"(,"selector":{"matchLabels":{"app":")",
        name, R"("}},"template":{"metadata":{"labels":{"app":")", name,
        R"("}},"spec":{"containers":[{"name":"main","image":")", image, R"("}]}})", more,
        R"(,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"InPlaceIfPossible",)",
        R"("maxUnavailable":1}}}})"));
    return object;
  }

  Due due(const std::set<Name>& owners, const DueScope& scope = {}) {
    return wishes_.due(owners, *records_, scope);
  }
  Due due(const Name& owner) { return due(std::set<Name>{owner}); }
  static const std::vector<Resource>& resources(const Due& due, const Name& owner) {
    return due.intent->resources.at(owner);
  }
  static size_t count(const Due& due, const Name& owner, std::string_view kind) {
    return static_cast<size_t>(std::ranges::count_if(
        resources(due, owner), [&](const Resource& each) { return each.key.kind == kind; }));
  }

  /// As an act that succeeded leaves it.
  void succeed(const Resource& resource, const Name& owner) {
    auto record = std::make_shared<Record>();
    record->applied = resource;
    record->sequence = ++sequence_;
    record->wanted_by[owner] = wish_of(resource);
    put(resource.key, record);
  }
  void put(const Key& key, const RecordPointer& record) {
    records_->put(key, record);
    fleet_.know(key, record);
  }
  /// All that is due of an owner comes about, and its pods are ready.
  void bring_about(const Name& owner) {
    const Due all = due(owner);
    for (const Resource& resource : resources(all, owner))
      succeed(resource, owner);
    for (const auto& [key, record] : all.known)
      if (std::ranges::none_of(resources(all, owner),
                               [&](const Resource& each) { return each.key == key; }))
        put(key, nullptr);
    std::vector<Key> pods;
    for (const workloads::FleetPod* pod : fleet_.owned(owner).pods)
      pods.push_back(pod->resource->key);
    for (const Key& key : pods)
      fleet_.see(key,
                 *read_json(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True",)"
                            R"("lastTransitionTime":"2026-01-01T00:00:01Z"}]})"));
    wishes_.ask(now_);
  }
  void settle(const Name& owner) {
    for (int round = 0; round < 5; ++round)
      bring_about(owner);
  }

  Time now_{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};
  Fleet fleet_{"fleet"};
  FleetWishes wishes_{fleet_};
  Known known_;
  std::optional<FleetRecords> records_{known_};
  uint64_t sequence_ = 0;
};

TEST_F(FleetWishesTest, AfterAChangeOnlyWhatItChangesIsDue) {
  const Name web = "CloneSet/default/web", other = "CloneSet/default/other";
  fleet_.put(clone_set("web", 20, "web:1"));
  fleet_.put(clone_set("other", 20, "other:1"));
  ASSERT_TRUE(wishes_.ask(now_));
  EXPECT_EQ(wishes_.take_changed(), (std::set<Name>{other, web}));
  EXPECT_EQ(count(due({web, other}), web, "pod"), 20u);
  settle(web);
  settle(other);
  EXPECT_TRUE(resources(due(web), web).empty());
  EXPECT_TRUE(due(web).known.empty());
  wishes_.take_changed();
  fleet_.put(clone_set("web", 21, "web:1"));
  ASSERT_TRUE(wishes_.ask(now_));
  EXPECT_EQ(wishes_.take_changed(), std::set<Name>{web});
  const Due one = due(web);
  EXPECT_EQ(count(one, web, "pod"), 1u);
  EXPECT_FALSE(one.intent->resources.contains(other));
  EXPECT_LE(one.known.size(), 1u) << "the revision, whose memory counts the pods";
  EXPECT_EQ(records_->sequence(), sequence_);
}

TEST_F(FleetWishesTest, WhatIsGoneDoesNotExpireAnyMore) {
  for (const char* name : {"a", "b"}) {
    Object job;
    job.kind = "ImagePullJob";
    job.space = "default";
    job.name = name;
    job.document = *read_json(R"({"metadata":{},"spec":{"image":"i:1","completionPolicy":{
        "type":"Always","ttlSecondsAfterFinished":0}}})");
    fleet_.put(job);
  }
  wishes_.ask(now_);
  fleet_.drop("ImagePullJob/default/a");
  wishes_.forget_expired("ImagePullJob/default/a");
  EXPECT_EQ(wishes_.take_expired(), std::vector<Name>{"ImagePullJob/default/b"});
  EXPECT_TRUE(wishes_.take_expired().empty());
}

TEST_F(FleetWishesTest, WhatOthersRemoveIsDueAlthoughNobodyWantsAnythingNew) {
  const Name web = "CloneSet/default/web";
  fleet_.put(clone_set("web", 1, "web:1"));
  wishes_.ask(now_);
  settle(web);
  wishes_.take_changed();
  const Resource revision = *fleet_.owned(web).revisions.begin()->second.resource;
  EXPECT_FALSE(wishes_.ask(now_));
  records_->put(revision.key, nullptr);
  wishes_.renew(web);
  EXPECT_TRUE(wishes_.ask(now_));
  EXPECT_EQ(wishes_.take_changed(), std::set<Name>{web});
  EXPECT_EQ(count(due(web), web, "revision"), 1u);
  EXPECT_FALSE(wishes_.ask(now_));
}

TEST_F(FleetWishesTest, WhatWaitsForItsNextTryIsNotActedOn) {
  const Name web = "CloneSet/default/web";
  fleet_.put(clone_set("web", 2, "web:1"));
  wishes_.ask(now_);
  const auto fail = [&](FailedActs& failed, const Resource& resource, Verb verb) {
    auto record = std::make_shared<Record>();
    Attempt& attempt = record->attempt.emplace();
    attempt.resource = resource;
    attempt.verb = verb;
    attempt.failed = true;
    record->wanted_by[web] = wish_of(resource);
    put(resource.key, record);
    failed.fail(resource.key, *record, false, Instant(1h));
  };
  FailedActs failed;
  const Resource pod = resources(due(web), web).back();
  ASSERT_EQ(pod.key.kind, "pod");
  fail(failed, pod, Verb::create);
  const auto mandates = [&](Instant now) {
    std::map<Mandate, int> found;
    const Due all = due({web}, {.failed = &failed, .now = now});
    for (const Resource& each : resources(all, web))
      found[each.mandate] += each.key.kind == "pod" ? 1 : 0;
    return found;
  };
  EXPECT_EQ(mandates(Instant(1h))[Mandate::none], 1);
  EXPECT_EQ(mandates(Instant(1h))[Mandate::act], 1);
  EXPECT_EQ(mandates(Instant(1h) + 1s)[Mandate::act], 2);
  // One that cannot be removed is left out: it would be removed.
  settle(web);
  fleet_.put(clone_set("web", 1, "web:1"));
  wishes_.ask(now_);
  const Due fewer = due(web);
  const auto gone = std::ranges::find(
      fewer.known, Name("pod"), [](const auto& each) -> const Name& { return each.first.kind; });
  ASSERT_NE(gone, fewer.known.end());
  Resource then = *gone->second->applied;
  FailedActs failed_to_go;
  fail(failed_to_go, then, Verb::remove);
  EXPECT_FALSE(due({web}, {.failed = &failed_to_go, .now = Instant(1h)}).known.contains(then.key));
  EXPECT_TRUE(
      due({web}, {.failed = &failed_to_go, .now = Instant(1h) + 1s}).known.contains(then.key));
}

TEST_F(FleetWishesTest, WhatIsNotWantedAnyMoreIsKnownAndNotWanted) {
  const Name web = "CloneSet/default/web";
  fleet_.put(clone_set("web", 3, "web:1"));
  wishes_.ask(now_);
  settle(web);
  fleet_.put(clone_set("web", 1, "web:1"));
  wishes_.ask(now_);
  const Due fewer = due(web);
  EXPECT_EQ(count(fewer, web, "pod"), 0u);
  EXPECT_EQ(
      std::ranges::count_if(fewer.known, [](const auto& each) { return each.first.kind == "pod"; }),
      2);
  EXPECT_EQ(fewer.intent->sets.at(web), Leftover::remove);
  fleet_.drop(web);
  wishes_.ask(now_);
  EXPECT_TRUE(resources(due(web), web).empty());
  EXPECT_EQ(due(web).known.size(), known_.size()) << "all of it goes";
}

TEST_F(FleetWishesTest, WhatFailedDriftedOrIsInARunIsDueAllTheSame) {
  const Name web = "CloneSet/default/web";
  fleet_.put(clone_set("web", 4, "web:1"));
  wishes_.ask(now_);
  settle(web);
  const Key failed = fleet_.owned(web).pods[0]->resource->key,
            drifted = fleet_.owned(web).pods[1]->resource->key,
            in_run = fleet_.owned(web).pods[2]->resource->key;
  auto record = std::make_shared<Record>(*records_->find(failed));
  record->attempt = Attempt{*record->applied, Verb::update, now_, true, "no", 0, {}};
  records_->put(failed, record);
  EXPECT_EQ(count(due(web), web, "pod"), 1u);
  const std::set<Key> all_drifted{drifted};
  const Known run{{in_run, records_->find(in_run)}};
  const Due more = due({web}, {.in_run = &run, .drifted = &all_drifted});
  EXPECT_EQ(count(more, web, "pod"), 3u);
  EXPECT_TRUE(more.known.contains(failed) && more.known.contains(drifted) &&
              more.known.contains(in_run));
  EXPECT_EQ(count(due({web}, {.is_all = true}), web, "pod"), 4u);
}

TEST_F(FleetWishesTest, APodComesWithTheClaimThatItNeeds) {
  const Name web = "CloneSet/default/web";
  const std::string_view claims =
      R"(,"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}])";
  fleet_.put(clone_set("web", 2, "web:1", claims));
  wishes_.ask(now_);
  settle(web);
  ASSERT_EQ(fleet_.owned(web).claims.size(), 2u);
  const Key pod = fleet_.owned(web).pods[0]->resource->key;
  const std::set<Key> drifted{pod};
  const Due one = due({web}, {.drifted = &drifted});
  EXPECT_EQ(count(one, web, "pod"), 1u);
  EXPECT_EQ(count(one, web, "claim"), 1u) << "else it would be nobody's, and removed";
  EXPECT_EQ(one.known.size(), 2u);
}

TEST_F(FleetWishesTest, OfOwnersThatAreGoneNothingIsKept) {
  for (const int i : {1, 2, 3}) {
    const Name owner = cat("CloneSet/default/set-", i);
    fleet_.put(clone_set(cat("set-", i), 2, "web:1"));
    wishes_.ask(now_);
    settle(owner);
    wishes_.take_changed();
    wishes_.forget_gone(*records_);
    EXPECT_EQ(wishes_.owners_kept(), 1u) << "it is there";
    fleet_.drop(owner);
    EXPECT_TRUE(wishes_.ask(now_));
    wishes_.take_changed();
    wishes_.forget_gone(*records_);
    EXPECT_EQ(wishes_.owners_kept(), 1u) << "its pods have to go";
    EXPECT_TRUE(due(owner).intent->sets.contains(owner));
    bring_about(owner);
    EXPECT_TRUE(known_.empty());
    wishes_.take_changed();
    wishes_.forget_gone(*records_);
    EXPECT_EQ(wishes_.owners_kept(), 0u);
    EXPECT_EQ(fleet_.owners_kept(), 0u);
    EXPECT_FALSE(wishes_.ask(now_));
  }
}

TEST_F(FleetWishesTest, InAClusterActsGoByItsBudget) {
  fleet_.is_cluster = true;
  EXPECT_EQ(due(std::set<Name>()).intent->pools.at(Name()), 16);
  const int orders = wishes_.acts_at_once() - 16;
  fleet_.acts_at_once = 40;
  EXPECT_EQ(due(std::set<Name>()).intent->pools.at(Name()), 40);
  EXPECT_EQ(wishes_.acts_at_once(), 40 + orders);
}

TEST_F(FleetWishesTest, AskedAgainNothingIsAnotherWish) {
  const Name web = "CloneSet/default/web";
  fleet_.put(clone_set("web", 5, "web:1"));
  EXPECT_TRUE(wishes_.ask(now_));
  wishes_.add(web);
  EXPECT_FALSE(wishes_.ask(now_));
  settle(web);
  wishes_.take_changed();
  wishes_.add(web);
  EXPECT_FALSE(wishes_.ask(now_));
  EXPECT_TRUE(wishes_.take_changed().empty());
  EXPECT_TRUE(wishes_.is_brought_about(known_));
}

}  // namespace
}  // namespace fettle
