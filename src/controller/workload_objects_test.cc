#include "controller/workload_objects.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

using workloads::Manifests;
using workloads::Object;

Manifests read(std::string_view text) { return workloads::read_manifests(text, "m.yaml", {}); }

Object stored(std::string_view text) {
  Manifests found = read(text);
  EXPECT_TRUE(found.errors.empty()) << to_string(found.errors[0]);
  Object object = found.objects.at(0);
  object.uid = "u";
  object.created = Time(1s);
  return object;
}

TEST(WorkloadObjects, WhatIsShownIsWhatIsApplied) {
  for (const char* text :
       {"apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n"
        "data: {a: YWJjZA==, b: \"\", c: /w==}\nstringData: {d: hello}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: text}\n"
        "binaryData: {b: /w==}\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: x, labels: {a: b}}\n"}) {
    const Object before = stored(text);
    const Object after = stored(write_json(reveal(shown_document(before))));
    EXPECT_EQ(after.document, before.document) << write_json(reveal(shown_document(before)));
    EXPECT_EQ(after.owner(), before.owner());
  }
}

TEST(WorkloadObjects, ASecretIsShownInBase64) {
  const Object secret =
      stored("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: abcd}\n");
  const Value shown = shown_document(secret);
  EXPECT_TRUE(shown.at("data").at("a").is_secret());
  EXPECT_EQ(reveal(shown).at("data").text_at("a"), "YWJjZA==");
  EXPECT_EQ(shown.at("metadata").text_at("namespace"), "default");
  EXPECT_EQ(shown.at("metadata").text_at("creationTimestamp"), "1970-01-01T00:00:01Z");
}

TEST(WorkloadObjects, WhatIsNoBase64IsRefused) {
  for (const char* data : {"!!!!", "YWJj*ZGVm", "YWJ"}) {
    const Manifests found =
        read(cat("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: \"", data, "\"}\n"));
    ASSERT_EQ(found.errors.size(), 1u) << data;
    EXPECT_NE(found.errors[0].message.find("`data.a` must be base64"), std::string::npos);
  }
}

TEST(WorkloadObjects, SidecarSetsOfTheSamePodsHaveOtherContainers) {
  const auto set = [](std::string_view name, std::string_view selector,
                      std::string_view container) {
    return stored(cat("apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: ",
                      name, "}\nspec:\n  selector: ", selector,
                      "\n  containers: [{name: ", container, ", image: a}]\n"));
  };
  const auto is_refused = [&](std::string_view selector, std::string_view container) {
    std::vector<Object> objects{set("b", selector, container)};
    return !fates_of({set("a", "{matchLabels: {app: web}}", "log")}, objects);
  };
  EXPECT_TRUE(is_refused("{matchLabels: {app: web}}", "log"));
  EXPECT_TRUE(is_refused("{matchLabels: {tier: front}}", "log"));
  EXPECT_FALSE(is_refused("{matchLabels: {app: web}}", "other"));
  EXPECT_FALSE(is_refused("{matchLabels: {app: db}}", "log"));
  EXPECT_FALSE(
      is_refused("{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", "log"));
  std::vector<Object> same{set("a", "{matchLabels: {app: web}}", "log")};
  EXPECT_TRUE(fates_of(same, same));
}

}  // namespace
}  // namespace fettle
