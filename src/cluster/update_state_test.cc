#include "cluster/update_state.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/text.h"
#include "tests/kubernetes/json_text.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

TEST(UpdateState, ReadsThatOfOpenKruise) {
  const UpdateState state = read_update_state(json(R"({"revision":"web-b",
      "updateTimestamp":"2026-11-22T13:40:53Z","updateImages":true,
      "lastContainerStatuses":{"c0":{"imageID":"sha256:1"}},
      "nextContainerImages":{"side":"side:2"}})"));
  EXPECT_EQ(state.revision, "web-b");
  EXPECT_EQ(state.update, json(R"({"since":1795354853000000000,
                                   "last":{"c0":{"image_id":"sha256:1"}}})"));
  EXPECT_EQ(state.next.images, json(R"({"side":"side:2"})"));
  EXPECT_TRUE(state.next.resources.is_null());
  EXPECT_TRUE(read_update_state({}).update.is_null());
}

/// Whoever may edit a pod may write this.
TEST(UpdateState, WhatCannotBeOursIsReadAsThatOfOthers) {
  const Value of_others = json(R"({"since":0,"last":{}})");
  for (const char* own :
       {"5", R"({"since":1})", R"({"since":1,"last":5})", R"({"since":1,"last":{"c0":"x"}})",
        R"({"since":9223372036854775807,"last":{}})", R"({"since":-1,"last":{}})",
        R"({"last":{}})"})
    EXPECT_EQ(read_update_state(Value::dict({{"revision", "a"}, {"fettle", json(own)}})).update,
              of_others)
        << own;
  const Value drains = json(R"({"since":1,"grace":true})");
  EXPECT_EQ(read_update_state(Value::dict({{"fettle", drains}})).update, drains);
}

TEST(UpdateState, IsWrittenForBoth) {
  const Value update = json(R"({"since":1795354853000000123,"from":"web-a",
      "last":{"c0":{"image_id":"sha256:1","container_id":"c://1"},"c1":{"resized":true}}})");
  const std::string text =
      write_update_state({.revision = "web-b",
                          .update = update,
                          .next = {.images = json(R"({"side":"side:2"})"),
                                   .resources = {},
                                   .metadata = json(R"({"side":{"labels":{"x":"1"}}})")}});
  const Value written = json(text);
  EXPECT_EQ(written.text_at("updateTimestamp"), "2026-11-22T13:40:53Z");
  EXPECT_EQ(written.at("lastContainerStatuses"), json(R"({"c0":{"imageID":"sha256:1"}})"))
      << "OpenKruise waits until each of these has another image";
  EXPECT_EQ(written.at("nextContainerImages"), json(R"({"side":"side:2"})"));
  EXPECT_EQ(written.at("nextContainerRefMetadata"), json(R"({"side":{"labels":{"x":"1"}}})"));
  EXPECT_EQ(written.at("preCheckBeforeNext"), json(R"({"containersRequiredReady":["c0","c1"]})"));
  const UpdateState again = read_update_state(written);
  EXPECT_EQ(again.update, update);
  EXPECT_EQ(again.revision, "web-b");
}

TEST(UpdateState, TheNextStepIsWhatThePodLacks) {
  const Value before = json(R"({"metadata":{},"spec":{"containers":[
      {"name":"a","image":"a:1"},{"name":"b","image":"b:1"},
      {"name":"c","image":"c:1","resources":{"limits":{"cpu":"1"}}}]}})");
  const Value after = json(R"({"metadata":{},"spec":{"containers":[
      {"name":"a","image":"a:2"},{"name":"b","image":"b:1"},
      {"name":"c","image":"c:1","resources":{"limits":{"cpu":"2"}}}]}})");
  const NextStep next = step_between(before, after);
  EXPECT_EQ(next.images, json(R"({"a":"a:2"})"));
  EXPECT_EQ(next.resources, json(R"({"c":{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}})"))
      << "a server has made a request of the limit, which would stay as it was";
  EXPECT_EQ(template_as_on(after, before, next), before);
  EXPECT_EQ(template_as_on(after, before, {}), after);
  EXPECT_TRUE(step_between(after, after).is_empty());
}

TEST(UpdateState, TheNextStepHasTheMetadataOfAnEnvironment) {
  const auto with_labels = [](std::string_view labels) {
    return json(cat(R"({"metadata":{"labels":)", labels, R"(},"spec":{"containers":[{"name":"a"},
        {"name":"b","env":[{"name":"T","valueFrom":{"fieldRef":{"fieldPath":)",
                    R"("metadata.labels['tier']"}}}]}]}})"));
  };
  const Value before = with_labels(R"({"tier":"1","other":"1"})");
  const Value after = with_labels(R"({"tier":"2","other":"2"})");
  const NextStep next = step_between(before, after);
  EXPECT_EQ(next.metadata, json(R"({"b":{"labels":{"tier":"2"}}})"));
  EXPECT_EQ(template_as_on(after, before, next), with_labels(R"({"tier":"1","other":"2"})"));
}

TEST(UpdateState, MetadataThatIsNotWrittenYet) {
  const Value target = json(R"({"metadata":{"labels":{"app":"web","tier":"2","new":"x"},
      "finalizers":["f","g"]},"spec":{}})");
  const Value pod = json(R"({"metadata":{"labels":{"app":"web","tier":"1","old":"y","user":"z"},
      "annotations":{"gone":"1","note":"2"},"finalizers":["f","h","u"]}})");
  const Value grace = Value::dict(
      {{"metaDataPatch", base64_encode(R"({"metadata":{"labels":{"tier":"2","new":"x","old":null},)"
                                       R"("annotations":{"gone":null},)"
                                       R"("$deleteFromPrimitiveList/finalizers":["h"]}})")}});
  EXPECT_EQ(metadata_as_on(target, pod, metadata_change_of(grace)),
            json(R"({"metadata":{"labels":{"app":"web","tier":"1","old":"y"},
                "annotations":{"gone":"1"},"finalizers":["f","h"]},"spec":{}})"));
  EXPECT_TRUE(metadata_change_of(Value::dict({{"metaDataPatch", "*"}})).is_null());
}

}  // namespace
}  // namespace fettle::cluster
