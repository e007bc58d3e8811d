#include "workloads/read/change.h"

#include <gtest/gtest.h>

#include "kinds/pod_change.h"
#include "tests/workloads/world.h"

namespace fettle::workloads {
namespace {

Object stored(std::string_view kind, std::string_view spec) {
  Object object = manifest(kind, "web", spec);
  std::vector<Entry> entries(object.document.entries().begin(), object.document.entries().end());
  entries.push_back({"apiVersion", "apps.kruise.io/v1beta1"});
  entries.push_back({"kind", kind});
  object.document = Value::dict(std::move(entries));
  return object;
}

Object web() { return stored("CloneSet", clone_set_spec(3, "nginx:1 log:1")); }

template <typename T>
std::string message(const Result<T>& result) {
  return result ? "" : result.error().message;
}

TEST(Change, ScalesWhatHasReplicas) {
  const Result<Object> more = scaled(web(), 5);
  ASSERT_TRUE(more) << message(more);
  EXPECT_EQ(more->document.at("spec").integer_at("replicas"), 5);
  EXPECT_EQ(more->document.at("spec").at("template"), web().document.at("spec").at("template"));
  EXPECT_EQ(message(scaled(web(), -1)), "`spec.replicas` must be from 0 to 200000, not -1");
  EXPECT_EQ(message(scaled(stored("DaemonSet", "{}"), 1)),
            "a DaemonSet has no number of replicas, expected one of CloneSet, StatefulSet");
}

TEST(Change, SetsImagesByContainer) {
  const Result<Object> one = with_images(web(), {{"c0", "nginx:2"}});
  ASSERT_TRUE(one) << message(one);
  EXPECT_EQ(workload_of(*one).pod_template, json(template_text("nginx:2 log:1")));
  // A star is every container that is not named itself.
  const Result<Object> all = with_images(web(), {{"*", "nginx:3"}, {"c1", "log:2"}});
  ASSERT_TRUE(all) << message(all);
  EXPECT_EQ(workload_of(*all).pod_template, json(template_text("nginx:3 log:2")));
  EXPECT_EQ(message(with_images(web(), {{"c2", "nginx:2"}})),
            "there is no container `c2` in CloneSet `web`, only c0, c1, did you mean `c0`?");
  EXPECT_NE(message(with_images(web(), {{"c0", "two words"}})), "");
}

TEST(Change, LabelsAreAddedReplacedAndTakenAway) {
  const Result<Object> added = with_metadata(web(), Metadata::labels, {{"tier", "front"}}, false);
  ASSERT_TRUE(added) << message(added);
  EXPECT_EQ(added->document.at("metadata").at("labels"), json(R"({"tier":"front"})"));
  EXPECT_EQ(message(with_metadata(*added, Metadata::labels, {{"tier", "back"}}, false)),
            "CloneSet `web` has `tier=front` already; `--overwrite` replaces it");
  EXPECT_TRUE(with_metadata(*added, Metadata::labels, {{"tier", "front"}}, false));
  const Result<Object> replaced = with_metadata(*added, Metadata::labels, {{"tier", "back"}}, true);
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->document.at("metadata").at("labels").text_at("tier"), "back");
  const Result<Object> gone =
      with_metadata(*replaced, Metadata::labels, {{"tier", Value()}}, false);
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->document.at("metadata").at("labels").is_null());
}

TEST(Change, KeysAndTextsAreThoseOfKubernetes) {
  for (const char* key : {"", "/a", "a/", "a b", "-a", "a/b/c"})
    EXPECT_FALSE(check_metadata(Metadata::labels, key, Value("x"))) << key;
  for (const char* key : {"a", "apps.kruise.io/specified-delete", "A_b.c-d"})
    EXPECT_TRUE(check_metadata(Metadata::labels, key, Value("true"))) << key;
  EXPECT_FALSE(check_metadata(Metadata::labels, "a", Value("two words")));
  EXPECT_TRUE(check_metadata(Metadata::annotations, "a", Value("two words")));
  EXPECT_TRUE(check_metadata(Metadata::labels, "a", Value("")));
}

TEST(Change, WhatIsSaidAboutAPodMayTakeAwayALabelOfItsTemplate) {
  Object pod = manifest("Pod", "web-1", "{}");
  const Result<Object> said = with_metadata(pod, Metadata::labels, {{"app", Value()}}, false);
  ASSERT_TRUE(said);
  EXPECT_NE(said->document.at("metadata").at("labels").find("app"), nullptr);
}

TEST(Change, ARolloutIsPausedOnce) {
  const Result<Object> paused = with_pause(web(), true);
  ASSERT_TRUE(paused) << message(paused);
  EXPECT_TRUE(workload_of(*paused).paused);
  EXPECT_EQ(message(with_pause(*paused, true)), "CloneSet `web` is already paused");
  const Result<Object> resumed = with_pause(*paused, false);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->document, web().document);
  EXPECT_EQ(message(with_pause(*resumed, false)), "CloneSet `web` is not paused");
}

TEST(Change, ARestartIsAnotherTemplateThatChangesInPlace) {
  const Result<Object> again = restarted(web(), Time(1s));
  ASSERT_TRUE(again) << message(again);
  const PodChange change =
      pod_change(workload_of(web()).pod_template, workload_of(*again).pod_template, {});
  EXPECT_TRUE(change.in_place());
  EXPECT_EQ(change.environment, (std::vector<Name>{"c0", "c1"}));
  const PodChange off = pod_change(workload_of(web()).pod_template,
                                   workload_of(*again).pod_template, {.environment = false});
  EXPECT_EQ(off.refusal, "metadata.annotations.kubectl.kubernetes.io/restartedAt");
}

TEST(Change, AnotherTemplateIsThatOfARevision) {
  const Value before = json(template_text("nginx:0 log:0"));
  const Result<Object> undone = with_template(web(), before);
  ASSERT_TRUE(undone) << message(undone);
  EXPECT_EQ(workload_of(*undone).pod_template, before);
  EXPECT_EQ(workload_of(*undone).replicas, 3);
}

}  // namespace
}  // namespace fettle::workloads
