#include "cluster/sidecars.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cluster/names.h"
#include "tests/kubernetes/json_text.h"
#include "value/json.h"

namespace fettle::cluster {
namespace {

using kubernetes::json;

const Time injected_at = Time(Duration(1'800'000'000'000'000'000));

Value sidecars_of_logs(std::string_view revision, std::string_view image,
                       std::string_view more = "") {
  return json(cat(R"([{"name":"logs","revision":")", revision,
                  R"(","before":["log"],"containers":[{"name":"log","image":")", image, R"("}])",
                  more, "}]"));
}

Value pod_annotated(const std::vector<Entry>& annotations) {
  return Value::dict({{"metadata", Value::dict({{"annotations", Value::dict(annotations)}})}});
}

Value value_of(const std::vector<Entry>& entries, std::string_view key) {
  for (const Entry& entry : entries)
    if (entry.key == key)
      return entry.value;
  return {};
}

Value json_of(const std::vector<Entry>& entries, std::string_view key) {
  const Value value = value_of(entries, key);
  return value.is_text() ? json(value.text()) : Value();
}

TEST(ClusterSidecars, AreReadAsTheyWereWritten) {
  const Value sidecars = sidecars_of_logs(
      "logs-a", "log:1",
      R"(,"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}],"annotations":{"a":"b"},)"
      R"("working":{"log":"log-1"},"last":{"log":{"image_id":"i"}})");
  const std::vector<Entry> written = sidecar_annotations({}, sidecars, {}, {}, injected_at);
  EXPECT_EQ(read_sidecars(pod_annotated(written)), sidecars);
  EXPECT_TRUE(
      sidecar_annotations(sidecars, sidecars, pod_annotated(written), {}, injected_at).empty());
  EXPECT_TRUE(sidecar_annotations({}, Value::list({}), {}, {}, injected_at).empty());
  for (const Entry& entry : written)
    EXPECT_TRUE(is_of_sidecars(entry.key)) << entry.key.view();
}

TEST(ClusterSidecars, WhatCannotBeOneIsPassedOver) {
  const auto is_read = [](std::string_view text) {
    return !read_sidecars(pod_annotated({{annotation::sidecars, text}})).is_null();
  };
  EXPECT_TRUE(is_read(R"([{"name":"a","revision":"a-1","containers":[{"name":"c"}]}])"));
  EXPECT_TRUE(is_read(R"([{"name":"a","revision":"a-1","initContainers":[]}])"));
  for (
      const char* text :
      {"", "{", "{}", "[]", "[1]", R"(["a"])", R"([{"name":"a","containers":[]}])",
       R"([{"name":"a","revision":"a-1"}])", R"([{"name":"a","revision":"a-1","containers":[1]}])",
       R"([{"name":"a","revision":"a-1","containers":[{"image":"i"}]}])",
       R"([{"name":"a","revision":"a-1","containers":{}}])",
       R"([{"name":"a","revision":"a-1","containers":[],"volumes":3}])",
       R"([{"name":"a","revision":"a-1","containers":[],"before":"c"}])",
       R"([{"name":"a","revision":"a-1","containers":[],"labels":{"a":1}}])",
       R"([{"name":"a","revision":"a-1","containers":[],"working":[]}])",
       R"([{"name":"a","revision":"a-1","containers":[],"last":{"c":"i"}}])",
       R"([{"name":"a","revision":"r","containers":[]},{"name":"a","revision":"r","containers":[]}])"})
    EXPECT_FALSE(is_read(text)) << text;
}

TEST(ClusterSidecars, OpenKruiseIsToldWhatAPodHas) {
  const HashesBySidecarSet hashes{{"logs", {"h1", "w1"}}};
  const Value first = sidecars_of_logs("logs-a", "log:1");
  const std::vector<Entry> made = sidecar_annotations({}, first, {}, hashes, injected_at);
  EXPECT_EQ(value_of(made, annotation::sidecar_list), Value("logs"));
  EXPECT_EQ(json_of(made, annotation::sidecar_hash),
            json(R"({"logs":{"updateTimestamp":"2027-01-15T08:00:00Z","hash":"h1",
              "sidecarSetName":"logs","sidecarList":["log"],"controllerRevision":"logs-a"}})"));
  EXPECT_EQ(json_of(made, annotation::sidecar_hash_without_image),
            json(R"({"logs":{"updateTimestamp":"2027-01-15T08:00:00Z","hash":"w1",
              "sidecarSetName":"logs","sidecarList":["log"]}})"));
  EXPECT_TRUE(value_of(made, annotation::sidecar_state).is_null());

  const Value second = sidecars_of_logs("logs-b", "log:2", R"(,"last":{"log":{"image_id":"i1"}})");
  const std::vector<Entry> changed = sidecar_annotations(
      first, second, pod_annotated(made), {{"logs", {"h2", "w1"}}}, injected_at + 60s);
  EXPECT_TRUE(value_of(changed, annotation::sidecar_list).is_null()) << "it is as it was";
  EXPECT_EQ(json_of(changed, annotation::sidecar_hash).at("logs").text_at("hash"), "h2");
  EXPECT_EQ(json_of(changed, annotation::sidecar_state),
            json(R"({"logs":{"revision":"h2","updateTimestamp":"2027-01-15T08:01:00Z",
              "lastContainerStatuses":{"log":{"imageID":"i1"}}}})"));
}

/// A wrong one would be worse than none. The one without images is as right as before.
TEST(ClusterSidecars, AHashThatIsNotKnownIsTakenAway) {
  const Value first = sidecars_of_logs("logs-a", "log:1"), second = sidecars_of_logs("b", "log:2");
  const std::vector<Entry> made =
      sidecar_annotations({}, first, {}, {{"logs", {"h1", "w1"}}}, injected_at);
  const std::vector<Entry> changed =
      sidecar_annotations(first, second, pod_annotated(made), {}, injected_at);
  const auto is_taken = [&](std::string_view key) {
    return std::ranges::any_of(
        changed, [&](const Entry& entry) { return entry.key == key && entry.value.is_null(); });
  };
  EXPECT_TRUE(is_taken(annotation::sidecar_hash));
  EXPECT_FALSE(is_taken(annotation::sidecar_hash_without_image));
  EXPECT_TRUE(value_of(changed, annotation::sidecar_hash_without_image).is_null()) << "untouched";
}

TEST(ClusterSidecars, WhatOthersHaveInjectedStays) {
  const Value pod = pod_annotated(
      {{annotation::sidecar_list, "mesh"}, {annotation::sidecar_hash, R"({"mesh":{"hash":"m"}})"}});
  const std::vector<Entry> made = sidecar_annotations({}, sidecars_of_logs("logs-a", "log:1"), pod,
                                                      {{"logs", {"h1", "w1"}}}, injected_at);
  EXPECT_EQ(value_of(made, annotation::sidecar_list), Value("mesh,logs"));
  const Value hashes = json_of(made, annotation::sidecar_hash);
  EXPECT_EQ(hashes.at("mesh").text_at("hash"), "m");
  EXPECT_EQ(hashes.at("logs").text_at("hash"), "h1");
}

TEST(ClusterSidecars, TwoContainersOfAHotOneAreOneInTheSet) {
  const Value hot = json(R"([{"name":"logs","revision":"logs-a","containers":[
    {"name":"log-1","image":"a"},{"name":"log-2","image":"b"},{"name":"x-1","image":"c"}],
    "working":{"log":"log-1"}}])");
  const std::vector<Entry> made =
      sidecar_annotations({}, hot, {}, {{"logs", {"h", "w"}}}, injected_at);
  EXPECT_EQ(json_of(made, annotation::sidecar_hash).at("logs").at("sidecarList"),
            json(R"(["log","x-1"])"));
}

TEST(ClusterSidecars, PartsOfATemplate) {
  const Value pod_template = json(R"({"metadata":{"labels":{"app":"web"}},"spec":{
    "containers":[{"name":"c0","image":"web:1"}],"volumes":[{"name":"log","emptyDir":{}}]}})");
  const Value sidecars = sidecars_of_logs("logs-a", "log:1", R"(,"annotations":{"a":"b"})");
  const Value whole = template_with_sidecars(pod_template, sidecars);
  EXPECT_EQ(whole.at("metadata").at("annotations").text_at("a"), "b");
  EXPECT_EQ(whole.at("metadata").at("labels").text_at("app"), "web");
  const auto containers = items_of(whole.at("spec").at("containers"));
  ASSERT_EQ(containers.size(), 2u);
  EXPECT_EQ(containers[0].text_at("name"), "log");
  EXPECT_EQ(spec_without_sidecars(whole.at("spec"), sidecars), pod_template.at("spec"))
      << "a volume may have the name of a container";
  const Value marked = spec_with_injection_marks(whole.at("spec"), sidecars);
  EXPECT_EQ(items_of(marked.at("containers"))[0].at("env"),
            json(R"([{"name":"IS_INJECTED","value":"true"}])"));
  EXPECT_EQ(items_of(marked.at("containers"))[1], containers[1]);
  EXPECT_EQ(spec_with_injection_marks(marked, sidecars), marked);
  EXPECT_EQ(template_with_sidecars(pod_template, {}), pod_template);
}

}  // namespace
}  // namespace fettle::cluster
