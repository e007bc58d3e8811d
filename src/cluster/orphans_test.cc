#include "cluster/orphans.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;
using workloads::Workload;
using workloads::WorkloadSort;

Workload workload_of_sort(WorkloadSort sort) {
  Workload workload;
  workload.sort = sort;
  workload.space = "shop";
  workload.name = "db";
  workload.selector = workloads::selector_of(json(R"({"matchLabels":{"app":"db"}})"));
  return workload;
}

Value object_called(std::string_view name, std::string_view more = "", std::string_view app = "db",
                    std::string_view space = "shop") {
  return json(cat(R"({"metadata":{"name":")", name, R"(","namespace":")", space,
                  R"(","uid":"u7","labels":{"app":")", app, R"("})", more, "}}"));
}

bool takes_pod(WorkloadSort sort, const Value& pod) {
  return takes_over(workload_of_sort(sort), pod, true);
}

TEST(Orphans, AWorkloadTakesOverWhatItsSelectorMatches) {
  const WorkloadSort set = WorkloadSort::stateful_set;
  EXPECT_TRUE(takes_pod(set, object_called("db-0")));
  EXPECT_TRUE(takes_pod(set, object_called("db-17")));
  EXPECT_FALSE(takes_pod(set, object_called("db-0", "", "web")));
  EXPECT_FALSE(takes_pod(set, object_called("db-0", "", "db", "other")));
  EXPECT_FALSE(takes_pod(
      set,
      object_called("db-0", R"(,"ownerReferences":[{"kind":"X","uid":"x","controller":true}])")));
  EXPECT_TRUE(
      takes_pod(set, object_called("db-0", R"(,"ownerReferences":[{"kind":"X","uid":"x"}])")));
  EXPECT_FALSE(
      takes_pod(set, object_called("db-0", R"(,"deletionTimestamp":"2026-11-22T13:40:53Z")")));
}

TEST(Orphans, AStatefulSetTakesOverItsNamesOnly) {
  for (const char* name : {"db", "db-", "db-x", "db-0x", "dbx-0", "other-0", "db-a-0"}) {
    EXPECT_FALSE(takes_pod(WorkloadSort::stateful_set, object_called(name))) << name;
    EXPECT_TRUE(takes_pod(WorkloadSort::daemon_set, object_called(name))) << name;
    EXPECT_FALSE(takes_pod(WorkloadSort::clone_set, object_called(name))) << name;
  }
  EXPECT_TRUE(
      takes_over(workload_of_sort(WorkloadSort::stateful_set), object_called("db-abc"), false))
      << "a revision has any name";
}

TEST(Orphans, AWorkloadWithoutASelectorTakesOverNothing) {
  Workload all = workload_of_sort(WorkloadSort::daemon_set);
  all.selector = {};
  EXPECT_FALSE(takes_over(all, object_called("db-0"), true));
}

TEST(Orphans, ARevisionOfASetThatIsGoneMayBeLeft) {
  workloads::Object set;
  set.kind = "StatefulSet";
  set.space = "shop";
  set.name = "db";
  set.uid = "u2";
  set.document = json(R"({"metadata":{"annotations":{}},
    "spec":{"selector":{"matchLabels":{"app":"db"}},"template":{}}})");
  const auto is_left = [&](std::string_view uid, std::string_view name = "db",
                           std::string_view app = "db") {
    return may_be_left_for(
        set, object_called("db-abc",
                           cat(R"(,"ownerReferences":[{"apiVersion":"apps.kruise.io/v1beta1",
      "kind":"StatefulSet","controller":true,"name":")",
                               name, R"(","uid":")", uid, R"("}])"),
                           app));
  };
  EXPECT_TRUE(is_left("u1"));
  EXPECT_FALSE(is_left("u2")) << "it is ours";
  EXPECT_FALSE(is_left("u1", "other"));
  EXPECT_FALSE(is_left("u1", "db", "web"));
  EXPECT_FALSE(may_be_left_for(set, object_called("db-abc"))) << "it is an orphan";
}

TEST(Orphans, EachKindIsFoundInItsList) {
  const Orphans all{.revisions = {object_called("db-abc"), object_called("a", "", "web")},
                    .pods = {object_called("db-0"), object_called("db-abc")}};
  const Orphans found = orphans_for(workload_of_sort(WorkloadSort::stateful_set), all);
  ASSERT_EQ(found.revisions.size(), 1u);
  EXPECT_EQ(meta_of(found.revisions[0]).name, "db-abc");
  ASSERT_EQ(found.pods.size(), 1u);
  EXPECT_EQ(meta_of(found.pods[0]).name, "db-0");
}

TEST(Orphans, TheChangeNamesTheObjectAndItsOwner) {
  workloads::Object owner;
  owner.kind = "StatefulSet";
  owner.name = "db";
  owner.uid = "u1";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  EXPECT_EQ(change_of_owner(meta_of(object_called("db-0")), owner),
            json(R"({"metadata":{"uid":"u7","ownerReferences":[{
              "apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","name":"db","uid":"u1",
              "controller":true,"blockOwnerDeletion":true}]}})"));
}

TEST(Orphans, WhatIsTakenOverKeepsItsOtherOwners) {
  workloads::Object owner;
  owner.kind = "StatefulSet";
  owner.name = "db";
  owner.uid = "u1";
  owner.document = json(R"({"apiVersion":"apps.kruise.io/v1beta1"})");
  const Value taken = taken_over(
      object_called("db-0", R"(,"ownerReferences":[{"kind":"X","name":"x","uid":"x"}])"), owner);
  ASSERT_TRUE(meta_of(taken).controller);
  EXPECT_EQ(meta_of(taken).controller->uid, "u1");
  EXPECT_EQ(items_of(taken.at("metadata").at("ownerReferences")).size(), 2u);
  EXPECT_EQ(meta_of(taken).uid, "u7");
}

}  // namespace
}  // namespace fettle::cluster
