#include "controller/cluster_upkeep.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "base/wait.h"
#include "cluster/types.h"
#include "tests/kubernetes/json_text.h"
#include "tests/kubernetes/played_transport.h"

namespace fettle {
namespace {

using kubernetes::json;
using kubernetes::ObjectName;
namespace types = cluster::types;

class ClusterUpkeepTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto defined = client_.create(kubernetes::types::definitions, {},
                                        json(R"({"apiVersion":"apiextensions.k8s.io/v1",
          "kind":"CustomResourceDefinition","metadata":{"name":"imagepulljobs.apps.kruise.io"},
          "spec":{"group":"apps.kruise.io","scope":"Namespaced","names":{"plural":"imagepulljobs",
          "singular":"one","kind":"ImagePullJob","listKind":"List"},"versions":[{"name":"v1beta1",
          "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})"),
                                        {}, {});
    ASSERT_TRUE(defined) << to_string(defined.error());
  }
  /// Returns its UID.
  Name make_job(const std::string& name, std::string_view more = {}) {
    const auto made = client_.create(
        types::pull_jobs, {"default", ""},
        json(cat(R"({"apiVersion":"apps.kruise.io/v1beta1","kind":"ImagePullJob","metadata":{
          "namespace":"default","name":")",
                 name, R"("},"spec":{"image":"web:1")", more, "}}")),
        {}, {});
    EXPECT_TRUE(made) << to_string(made.error());
    if (!made)
      return {};
    objects_.take_answer(types::pull_jobs.kind, *made);
    return cluster::meta_of(*made).uid;
  }
  void put_copies(const std::vector<std::string>& names) {
    const std::string space(cluster::copy_space);
    const auto spaced = client_.create(
        types::spaces, {},
        json(cat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", space, R"("}})")),
        {}, {});
    ASSERT_TRUE(spaced) << to_string(spaced.error());
    for (const std::string& name : names) {
      const auto made = client_.create(
          types::secrets, {space, ""},
          json(cat(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")", name, R"("}})")),
          {}, {});
      ASSERT_TRUE(made) << to_string(made.error());
    }
  }
  bool has_copy(const std::string& name) {
    return client_.get(types::secrets, {std::string(cluster::copy_space), name}, {}).has_value();
  }
  bool is_stored(const std::string& name) {
    return client_.get(types::pull_jobs, {"default", name}, {}).has_value();
  }
  static kubernetes::ObjectKey key_of(const std::string& name) {
    return {types::pull_jobs.kind, {"default", name}};
  }

  kubernetes::ApiServer server_;
  Time now_ = Time(Duration(1'800'000'000'000'000'000));
  kubernetes::Client client_{std::make_unique<kubernetes::PlayedTransport>(server_, now_),
                             {.qps = 0}};
  kubernetes::ObjectCache objects_{{types::nodes, types::pull_jobs, types::node_images}};
  const cluster::FindJob find_ = [](const ObjectName&, std::string_view) { return std::nullopt; };
};

TEST_F(ClusterUpkeepTest, AJobThatWasMadeAnewOutlivesTheOneBefore) {
  make_job("again");
  const Name uid = make_job("over");
  ClusterUpkeep upkeep(client_, objects_);
  upkeep.remove_job(key_of("again"), "uid-of-the-one-before");
  upkeep.remove_job(key_of("over"), uid);
  upkeep.refresh(find_, now_);
  // Those that are due go by their names. The limit is for a failing test.
  for (int i = 0; i < 1'500 && is_stored("over"); ++i)
    EXPECT_TRUE(pause_for(20ms, {}));
  EXPECT_FALSE(is_stored("over"));
  EXPECT_TRUE(is_stored("again"));
}

TEST_F(ClusterUpkeepTest, ACopyOfASecretGoesWhenNoJobNamesIt) {
  const std::string kept = cluster::copy_of({"default", "key"}).name,
                    left = cluster::copy_of({"default", "old"}).name,
                    former = cluster::copy_of({"shop", "key"}).name;
  put_copies({kept, left, former, "key-4f2a1c"});
  make_job("warm", R"(,"pullSecrets":["key"])");
  // Of a controller before this one, and of OpenKruise's manager.
  objects_.take_answer(types::node_images.kind, json(cat(R"({"metadata":{"name":"n1","uid":"u",
    "resourceVersion":"1"},"spec":{"images":{"web":{"pullSecrets":[
    {"namespace":"kruise-daemon-config","name":"key-4f2a1c"},
    {"namespace":"kruise-daemon-config","name":")",
                                                         former, R"("}]}}}})")));
  cluster::SecretCopies copies(true);
  copies.note({"default", "key"}, Instant(1h), "");
  copies.note({"default", "old"}, Instant(1h), "");
  ClusterUpkeep upkeep(client_, objects_, &copies);
  upkeep.note("n1");
  upkeep.refresh(find_, now_);
  // The limit is for a failing test.
  for (int i = 0; i < 1'500 && (has_copy(left) || has_copy(former)); ++i)
    EXPECT_TRUE(pause_for(20ms, {}));
  EXPECT_FALSE(has_copy(left));
  EXPECT_FALSE(has_copy(former));
  EXPECT_TRUE(has_copy(kept));
  EXPECT_TRUE(has_copy("key-4f2a1c")) << "it is not ours";
}

TEST_F(ClusterUpkeepTest, ACopyThatAnOrderNamesMeanwhileStays) {
  const std::string first = cluster::copy_of({"default", "a"}).name,
                    last = cluster::copy_of({"default", "b"}).name;
  put_copies({first, last});
  cluster::SecretCopies copies(true);
  copies.note({"default", "a"}, Instant(1h), "");
  copies.note({"default", "b"}, Instant(1h), "");
  ClusterUpkeep upkeep(client_, objects_, &copies);
  upkeep.note("n1");
  EXPECT_TRUE(copies.alone(first, {}, [&] {
    upkeep.refresh(find_, now_);
    make_job("warm", R"(,"pullSecrets":["a"])");
  }));
  // They go by their names. The limit is for a failing test.
  for (int i = 0; i < 1'500 && has_copy(last); ++i)
    EXPECT_TRUE(pause_for(20ms, {}));
  EXPECT_FALSE(has_copy(last));
  EXPECT_TRUE(has_copy(first)) << "its removal was due before the job came";
}

TEST_F(ClusterUpkeepTest, WhereNodeImagesAreNotFollowedNothingIsDue) {
  objects_.leave_out(types::node_images.kind);
  ClusterUpkeep upkeep(client_, objects_);
  upkeep.note("n1");
  EXPECT_FALSE(upkeep.due()) << "whoever waits for it would never rest";
}

TEST_F(ClusterUpkeepTest, WhatIsNotedIsDueOnce) {
  ClusterUpkeep upkeep(client_, objects_);
  EXPECT_FALSE(upkeep.due());
  upkeep.note("n1");
  EXPECT_TRUE(upkeep.due());
  upkeep.refresh(find_, now_);
  EXPECT_FALSE(upkeep.due());
}

}  // namespace
}  // namespace fettle
