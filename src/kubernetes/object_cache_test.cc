#include "kubernetes/object_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/text.h"
#include "tests/kubernetes/cluster.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::kubernetes {
namespace {

Value map_with(std::string_view uid, int version, int data) {
  return json(cat(R"({"metadata":{"namespace":"a","name":"x","uid":")", uid,
                  R"(","resourceVersion":")", version, R"("},"data":)", data, "}"));
}

class ObjectCacheTest : public testing::Test {
 protected:
  void tell(std::string_view uid, int version) {
    cache.listener("ConfigMap").put(name, map_with(uid, version, version));
  }
  void answer(std::string_view uid, int version) {
    cache.take_answer("ConfigMap", map_with(uid, version, version));
  }
  /// The version that the cache has; 0: there is no object.
  int64_t version() const { return cache.find("ConfigMap", name).integer_at("data"); }

  const ObjectName name{"a", "x"};
  int changes = 0;
  ObjectCache cache{{config_maps}};
};

TEST_F(ObjectCacheTest, ManyChangesOfAnObjectAreOne) {
  cache.listen([this] { ++changes; });
  tell("1", 7);
  tell("1", 8);
  EXPECT_EQ(changes, 2);
  cache.listen({});
  EXPECT_EQ(cache.take_changed(), (std::set<ObjectKey>{{"ConfigMap", name}}));
  EXPECT_TRUE(cache.take_changed().empty());
  EXPECT_EQ(version(), 8);
  cache.listener("ConfigMap").gone(name, "1");
  EXPECT_EQ(version(), 0);
  EXPECT_EQ(cache.take_changed().size(), 1u);
  EXPECT_EQ(changes, 2);
}

TEST_F(ObjectCacheTest, OnlyThePartThatIsWantedIsKept) {
  cache.keep_part("ConfigMap", [](const Value& object) {
    return Value::dict(
        {{"metadata", object.at("metadata")}, {"data", 1 + object.integer_at("data")}});
  });
  cache.keep_part("Pod", [](const Value& object) { return object; });
  tell("1", 7);
  EXPECT_EQ(version(), 8);
  answer("1", 10);
  EXPECT_EQ(version(), 11);
  tell("1", 9);
  EXPECT_EQ(version(), 11) << "it is older than the answer";
  cache.listener("ConfigMap").gone(name, "1");
  EXPECT_EQ(version(), 0);
}

TEST_F(ObjectCacheTest, OfATypeThatIsNotFollowedThereIsNothing) {
  tell("1", 7);
  EXPECT_TRUE(cache.find("Pod", name).is_null());
  EXPECT_TRUE(cache.all("Pod").empty());
  EXPECT_EQ(cache.all("ConfigMap").size(), 1u);
}

TEST_F(ObjectCacheTest, WhatIsOlderThanAnAnswerIsPassedOver) {
  tell("1", 7);
  answer("1", 10);
  tell("1", 9);
  EXPECT_EQ(version(), 10);
  tell("1", 10);
  tell("1", 11);
  EXPECT_EQ(version(), 11);
}

TEST_F(ObjectCacheTest, AnAnswerThatIsLateChangesNothing) {
  tell("1", 11);
  answer("1", 9);
  EXPECT_EQ(version(), 11);
  cache.listener("ConfigMap").gone(name, "1");
  answer("1", 12);
  EXPECT_EQ(version(), 0) << "its end was told";
}

TEST_F(ObjectCacheTest, WhatOnlyAnAnswerHasToldOfEndsWithALaterList) {
  answer("1", 10);
  cache.listener("ConfigMap").listed("9");
  EXPECT_EQ(version(), 10) << "the list is older";
  (void)cache.take_changed();
  cache.listener("ConfigMap").listed("11");
  EXPECT_EQ(version(), 0);
  EXPECT_EQ(cache.take_changed().size(), 1u);
  answer("1", 10);
  EXPECT_EQ(version(), 0) << "it has ended";
}

TEST_F(ObjectCacheTest, WhatAWatchHasToldOfStaysUntilItsEndIsTold) {
  answer("1", 10);
  tell("1", 10);
  cache.listener("ConfigMap").listed("11");
  EXPECT_EQ(version(), 10);
}

TEST_F(ObjectCacheTest, TheNextObjectOfANameIsAnother) {
  tell("1", 7);
  answer("2", 9);
  cache.listener("ConfigMap").gone(name, "1");
  EXPECT_EQ(version(), 9);
  tell("2", 9);
  EXPECT_EQ(version(), 9);
}

/// A store that was put back counts from an earlier number again.
TEST_F(ObjectCacheTest, WithoutAnAnswerWhateverIsToldCounts) {
  tell("1", 70);
  tell("1", 8);
  EXPECT_EQ(version(), 8);
}

TEST(ObjectVersion, NumbersAreCompared) {
  EXPECT_TRUE(is_older("9", "10"));
  EXPECT_FALSE(is_older("10", "9"));
  EXPECT_FALSE(is_older("10", "10"));
  EXPECT_FALSE(is_older("9", ""));
  EXPECT_FALSE(is_older("a", "b"));
}

TEST_F(ObjectCacheTest, WhoWaitsForAllObjectsCanBeStopped) {
  std::stop_source stops;
  std::jthread stopping([&] { stops.request_stop(); });
  const Status waited = cache.await_sync(stops.get_token());
  ASSERT_FALSE(waited);
  EXPECT_TRUE(is_cancelled(waited.error()));
  cache.listener("ConfigMap").synced();
  EXPECT_TRUE(cache.await_sync({}));
}

TEST_F(ObjectCacheTest, ItKnowsOfWhichKindsNotAllWasTold) {
  EXPECT_EQ(cache.unsynced(), std::vector<std::string>{"ConfigMap"});
  cache.listener("ConfigMap").synced();
  EXPECT_TRUE(cache.unsynced().empty());
}

TEST_F(ObjectCacheTest, ItKnowsWhenTheServerWasLastHeard) {
  EXPECT_EQ(cache.heard().at("ConfigMap"), std::nullopt);
  cache.listener("ConfigMap").heard(Instant(7s));
  cache.listener("ConfigMap").heard(Instant(9s));
  EXPECT_EQ(cache.heard().at("ConfigMap"), Instant(9s));
}

TEST(ObjectCacheOfAServer, AReflectorFillsIt) {
  Cluster cluster;
  ASSERT_TRUE(cluster.client().create(
      config_maps, cluster.name("x"),
      json(cat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":")",
               cluster.space(), R"("}})")),
      {}, {}));
  ObjectCache cache({config_maps});
  Reflector reflector({.type = config_maps, .space = cluster.space()}, cache.listener("ConfigMap"),
                      1);
  const std::jthread following(
      [&](const std::stop_token& stop) { follow(cluster.client(), reflector, stop); });
  const Instant began = instant_from_clock();
  ASSERT_TRUE(cache.await_sync({}));
  EXPECT_FALSE(cache.find("ConfigMap", cluster.name("x")).is_null());
  EXPECT_EQ(cache.take_changed().count({"ConfigMap", cluster.name("x")}), 1u);
  // Of the event that ended the list, the cache hears a moment later than of its objects.
  while (!cache.heard().at("ConfigMap"))
    std::this_thread::sleep_for(1ms);
  EXPECT_LT(*cache.heard().at("ConfigMap") - began, 1min);
}

}  // namespace
}  // namespace fettle::kubernetes
