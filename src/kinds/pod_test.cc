/// The meaning of a pod's attributes, and changes in place. Numbers are those of the scenarios that
/// collect the rules of OpenKruise.

#include <gtest/gtest.h>

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "kinds/pod_change.h"
#include "kinds/quantity.h"
#include "value/json.h"

namespace fettle {
namespace {

Value parsed(std::string_view text) {
  const Result<Value> value = read_json(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(Value());
}

Attributes pod_of(std::string_view pod_template, std::string_view more = "") {
  const auto normal = pod_kind().normalise(
      parsed(cat(R"({"name":"web-a","node":"n1","template":)", pod_template, more, "}")));
  EXPECT_TRUE(normal) << (normal ? "" : normal.error().message);
  return normal.value_or(Attributes());
}

bool in_place(std::string_view before, std::string_view after, std::string_view more = "") {
  return pod_kind().in_place_changes(pod_of(before, more), pod_of(after, more));
}

constexpr std::string_view plain =
    R"({"metadata":{"labels":{"app":"w"}},"spec":{"containers":[{"name":"a","image":"i:1"}]}})";

std::string with(std::string_view from, std::string_view to) {
  const std::string text = replace_all(plain, from, to);
  EXPECT_NE(text, plain) << from;
  return text;
}

struct Row {
  const char* what;
  const char* before;
  const char* after;
  bool in_place;
};

TEST(Pod, WhatMayChangeInPlace) {
  const Row rows[] = {
      {"34. one image changed", R"({"spec":{"containers":[{"name":"a","image":"i:1"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"i:2"}]}})", true},
      {"35. two images",
       R"({"spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"j"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"i:2"},{"name":"b","image":"k"}]}})", true},
      {"38. label added",
       R"({"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"a"}]}})",
       R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"containers":[{"name":"a"}]}})", true},
      {"39. finalizer changed", R"({"metadata":{},"spec":{"containers":[{"name":"a"}]}})",
       R"({"metadata":{"finalizers":["x"]},"spec":{"containers":[{"name":"a"}]}})", true},
      {"39. environment changed",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"A","value":"1"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","env":[{"name":"A","value":"2"}]}]}})", false},
      {"39. init image changed",
       R"({"spec":{"initContainers":[{"name":"i","image":"x"}],"containers":[{"name":"a"}]}})",
       R"({"spec":{"initContainers":[{"name":"i","image":"y"}],"containers":[{"name":"a"}]}})",
       false},
      {"39. container added", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})", false},
      {"40. container renamed at the same index",
       R"({"spec":{"containers":[{"name":"a","image":"x"}]}})",
       R"({"spec":{"containers":[{"name":"b","image":"x"}]}})", false},
      {"containers reordered", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"b"},{"name":"a"}]}})", false},
      {"an image that was not there is no replacement", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"x"}]}})", false},
      {"volumes", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a"}],"volumes":[]}})", false},
      {"command", R"({"spec":{"containers":[{"name":"a"}]}})",
       R"({"spec":{"containers":[{"name":"a","command":["x"]}]}})", false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(in_place(row.before, row.after), row.in_place) << row.what;
}

TEST(Pod, TheDifferenceNamesContainersAndWhatCannotChange) {
  const Value before =
      parsed(R"({"spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"j"}]}})");
  const Value after =
      parsed(R"({"spec":{"containers":[{"name":"a","image":"i:2"},{"name":"b","image":"j"}]}})");
  const PodChange change = pod_change(before, after, {});
  EXPECT_TRUE(change.in_place());
  EXPECT_EQ(change.images, std::vector<Name>{"a"});
  EXPECT_FALSE(change.metadata);
  const PodChange refused =
      pod_change(parsed(plain), parsed(with(R"("image":"i:1")", R"("image":"i:1","env":[])")), {});
  EXPECT_EQ(refused.refusal, "spec.containers[0].env");
}

// 38. a label that an environment takes recreates that container, another one does not.
TEST(Pod, ALabelThatAnEnvironmentTakesConcernsItsContainer) {
  const auto text = [](std::string_view labels) {
    return parsed(cat(R"({"metadata":{"labels":)", labels,
                      R"(},"spec":{"containers":[{"name":"a","env":[{"name":"V","valueFrom":)",
                      R"({"fieldRef":{"fieldPath":"metadata.labels['v']"}}}]},{"name":"b"}]}})"));
  };
  const auto concerned = [&](std::string_view before, std::string_view after) {
    return pod_change(text(before), text(after), {}).environment;
  };
  EXPECT_EQ(concerned(R"({"v":"1"})", R"({"v":"2"})"), std::vector<Name>{"a"});
  EXPECT_EQ(concerned(R"({"x":"1"})", R"({"x":"1","v":"2"})"), std::vector<Name>{"a"});
  EXPECT_TRUE(concerned(R"({"x":"1"})", R"({"x":"2"})").empty());
  EXPECT_TRUE(concerned(R"({"v":"1"})", R"({})").empty()) << "one that is taken away";
  EXPECT_TRUE(concerned("null", R"({"v":"2"})").empty()) << "the first map of labels";
  EXPECT_TRUE(
      pod_change(text(R"({"v":"1"})"), text(R"({"v":"2"})"), {false, false}).environment.empty());
}

// 41. processor time and memory.
TEST(Pod, AmountsChangeInPlaceWithTheGateAndWithinTheClassOfService) {
  const auto text = [](std::string_view image, std::string_view resources) {
    return cat(R"({"spec":{"containers":[{"name":"a","image":")", image, R"(","resources":)",
               resources, "}]}}");
  };
  const std::string one = text("i:1", R"({"requests":{"cpu":"100m"}})");
  const std::string two = text("i:1", R"({"requests":{"cpu":"200m"}})");
  EXPECT_FALSE(in_place(one, two));
  EXPECT_TRUE(in_place(one, two, R"(,"resize":true)"));
  EXPECT_TRUE(in_place(one, text("i:2", R"({"requests":{"cpu":"200m"}})"), R"(,"resize":true)"));
  const auto with_gate = [&](std::string_view before, std::string_view after) {
    return in_place(text("i", before), text("i", after), R"(,"resize":true)");
  };
  EXPECT_FALSE(
      with_gate(R"({"requests":{"cpu":"1"}})", R"({"requests":{"cpu":"1"},"limits":{"cpu":"1"}})"));
  EXPECT_FALSE(
      with_gate(R"({"requests":{"cpu":"1"}})", R"({"requests":{"cpu":"1","memory":"1Gi"}})"));
  EXPECT_FALSE(with_gate(R"({"requests":{"gpu":"1"}})", R"({"requests":{"gpu":"2"}})"));
  EXPECT_FALSE(
      with_gate(R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}})",
                R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}})"))
      << "Guaranteed becomes Burstable";
  const PodChange both =
      pod_change(parsed(one), parsed(text("i:2", R"({"requests":{"cpu":"200m"}})")), {true, true});
  EXPECT_EQ(both.images, std::vector<Name>{"a"});
  EXPECT_EQ(both.resources, std::vector<Name>{"a"});
}

// 42. the hash of claim templates counts when both have one.
TEST(Pod, ClaimTemplatesCountWhenBothSidesHaveTheirHash) {
  const auto changes = [&](std::string_view before, std::string_view after) {
    return pod_kind().in_place_changes(pod_of(plain, before), pod_of(plain, after));
  };
  EXPECT_FALSE(changes(R"(,"claims_hash":"x")", R"(,"claims_hash":"y")"));
  EXPECT_TRUE(changes(R"(,"claims_hash":"x")", ""));
  EXPECT_TRUE(changes("", R"(,"claims_hash":"y")"));
  EXPECT_TRUE(changes(R"(,"claims_hash":"x")", R"(,"claims_hash":"x")"));
}

TEST(Pod, WhatIsBeyondTheTemplateChangesInPlaceAndItsAddressDoesNot) {
  const Attributes bare = pod_of(plain);
  const auto changes = [&](std::string_view more) {
    return pod_kind().in_place_changes(bare, pod_of(plain, more));
  };
  EXPECT_TRUE(changes(R"(,"labels":{"x":"y"})"));
  EXPECT_TRUE(changes(R"(,"images":{"a":"i:2"})"));
  EXPECT_TRUE(changes(R"(,"conditions":{"InPlaceUpdateReady":"False"})"));
  EXPECT_TRUE(changes(R"(,"state":{"x":1})"));
  EXPECT_TRUE(changes(R"(,"configs":{"ConfigMap/c":{"k":"v"}})"));
  EXPECT_FALSE(changes(R"(,"hostname":"x")"));
  EXPECT_FALSE(changes(R"(,"claims":{"data":"data-web-a"})"));
  EXPECT_FALSE(changes(R"(,"sidecars":[{"name":"s","containers":[{"name":"x","image":"y"}]}])"));
  const auto sidecar = [](std::string_view image, std::string_view command) {
    return pod_of(plain, cat(R"(,"sidecars":[{"name":"s","containers":[{"name":"x","image":")",
                             image, R"(","command":[")", command, R"("]}]}])"));
  };
  EXPECT_TRUE(pod_kind().in_place_changes(sidecar("1", "c"), sidecar("2", "c")));
  EXPECT_FALSE(pod_kind().in_place_changes(sidecar("1", "c"), sidecar("1", "d")));
}

TEST(Pod, WhatItRunsIsItsTemplateWithSidecarsAndItsOwnImages) {
  const Attributes pod = pod_of(
      plain,
      R"(,"labels":{"app":null,"x":"y"},"images":{"a":"i:0"},"sidecars":[{"name":"s","labels":{"z":"1"},)"
      R"("containers":[{"name":"log","image":"l:1"}],"volumes":[{"name":"v"}]}])");
  EXPECT_EQ(
      pod_spec(pod),
      parsed(
          R"({"nodeName":"n1","containers":[{"name":"a","image":"i:0"},{"name":"log","image":"l:1"}],)"
          R"("volumes":[{"name":"v"}]})"));
  EXPECT_EQ(pod_labels(pod), parsed(R"({"x":"y","z":"1"})"));
  EXPECT_EQ(pod_image(pod, "a"), "i:0");
  EXPECT_EQ(pod_image(pod, "log"), "l:1");
  EXPECT_EQ(pod_image(pod, "none"), "");
}

TEST(Pod, DefaultsAreLeftOutAndWhatCannotBeMeantIsRefused) {
  EXPECT_EQ(pod_of(plain, R"(,"labels":{},"resize":false,"hostname":"")"), pod_of(plain));
  const auto refusal = [](std::string_view text) {
    const auto normal = pod_kind().normalise(parsed(text));
    return normal ? "" : normal.error().message;
  };
  EXPECT_EQ(refusal(R"({"name":"a"})"), "attribute `template` is missing");
  EXPECT_EQ(refusal(R"({"name":"a","template":{}})"),
            "`template.spec.containers` must be a list of containers");
  EXPECT_EQ(refusal(R"({"name":"a","template":{"spec":{"containers":[{}]}}})"),
            "each of `template.spec.containers` must be a dict with a `name`");
  EXPECT_EQ(refusal(cat(R"({"name":"a","conditions":{"X":true},"template":)", plain, "}")),
            "condition `X` must be `True` or `False`");
  EXPECT_EQ(refusal(cat(R"({"name":"a","images":{"a":1},"template":)", plain, "}")),
            "image of `a` must be a string");
}

TEST(Pod, DriftIsAPodOrAContainerThatIsGone) {
  Record known;
  known.applied.emplace();
  known.applied.edit().attributes = pod_of(plain);
  const auto verb = [&](std::string_view seen) {
    return pod_kind().compare(known, {parsed(seen)}, Presence::running).verb;
  };
  EXPECT_EQ(pod_kind().compare(known, {}, Presence::running).verb, Verb::create);
  EXPECT_EQ(verb(R"({"phase":"Running","containerStatuses":[{"name":"a","ready":false}]})"),
            Verb::keep);
  EXPECT_EQ(verb(R"({"phase":"Running","containerStatuses":[]})"), Verb::update);
  EXPECT_EQ(verb(R"({"phase":"Failed","containerStatuses":[]})"), Verb::keep);
}

TEST(Pod, AContainerThatIsToRunAndHasEndedIsDrift) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("Always")", "01"}, {R"("OnFailure")", "1"}, {R"("Never")", ""}, {"null", "01"}};
  for (const auto& [policy, codes] : rows)
    for (const char code : {'0', '1'}) {
      Record known;
      known.applied.emplace();
      known.applied.edit().attributes = parsed(cat(
          R"({"template":{"spec":{"containers":[{"name":"a"}],"restartPolicy":)", policy, "}}}"));
      const Observation seen{
          parsed(cat(R"({"phase":"Running","containerStatuses":[{"name":"a","ready":false,)"
                     R"("state":{"terminated":{"exitCode":)",
                     std::string(1, code), "}}}]}"))};
      const Comparison found = pod_kind().compare(known, seen, Presence::running);
      const bool is_to_run = std::string_view(codes).find(code) != std::string_view::npos;
      EXPECT_EQ(found.verb, is_to_run ? Verb::update : Verb::keep) << policy << code;
    }
}

TEST(Pod, ItsKeySaysNodeNamespaceAndName) {
  const Name name = node_name_of("n1", "shop", "web-a");
  EXPECT_EQ(name, "n1|shop/web-a");
  const NodeAddress address = node_address(name);
  EXPECT_EQ(address.node, "n1");
  EXPECT_EQ(address.space, "shop");
  EXPECT_EQ(address.name, "web-a");
  EXPECT_EQ(node_address("web").name, "web");
}

TEST(Quantity, AmountsAreReadAsKubernetesWritesThem) {
  const std::pair<const char*, int64_t> rows[] = {{"100m", 100},
                                                  {"0.5", 500},
                                                  {"1", 1000},
                                                  {"1Ki", 1'024'000},
                                                  {"128M", 128'000'000'000},
                                                  {"12e6", 12'000'000'000},
                                                  {"1E", std::numeric_limits<int64_t>::max()},
                                                  {"+2", 2000},
                                                  {"1u", 1},
                                                  {"1.5Gi", 1'610'612'736'000},
                                                  {"0.1", 100},
                                                  {".5", 500},
                                                  {"3.", 3000}};
  for (const auto& [text, milli] : rows)
    EXPECT_EQ(quantity_milli(std::string_view(text)), milli) << text;
  for (const char* text : {"", "x", "-1", "1x", "1e", "1e99", "1.2.3", "Gi"})
    EXPECT_FALSE(quantity_milli(std::string_view(text))) << text;
  EXPECT_EQ(quantity_milli(Value(2)), 2000);
  EXPECT_EQ(quantity_milli(Value(0.25)), 250);
}

TEST(Kinds, WhatWorkloadsRememberIsChecked) {
  EXPECT_FALSE(revision_kind().normalise(parsed(R"({"name":"a"})")));
  EXPECT_TRUE(pull_job_kind().normalise(parsed(R"({"name":"a","namespace":"n","image":"i"})")));
  EXPECT_TRUE(claim_kind().in_place_changes(parsed(R"({"spec":1})"), parsed(R"({"spec":2})")));
  EXPECT_FALSE(notice_kind().normalise(parsed(R"({"reason":"r","object":"o","type":"x"})")));
  EXPECT_EQ(*image_kind().normalise(parsed(R"({"reference":"r","attempts":0,"node":""})")),
            *image_kind().normalise(parsed(R"({"reference":"r"})")));
}

}  // namespace
}  // namespace fettle
