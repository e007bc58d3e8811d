#include "cli/commands/workload_fields.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

const Value web = Value::dict({{"metadata", Value::dict({{"name", "web-9"}})},
                               {"spec", Value::dict({{"replicas", 3}})},
                               {"status", Value::dict({{"phase", "Running"}})}});

bool selects(const char* text) {
  const Result<FieldFilter> filter = field_filter(text, "Pod");
  EXPECT_TRUE(filter) << text;
  return filter && (*filter)(web);
}

TEST(WorkloadFields, SelectAsKubectlDoes) {
  for (const char* text : {"", "metadata.name=web-9", "metadata.name==web-9,status.phase=Running",
                           "status.phase!=Failed", "spec.nodeName=", "spec.nodeName!=n1"})
    EXPECT_TRUE(selects(text)) << text;
  for (const char* text : {"metadata.name=web", "metadata.name!=web-9", "spec.nodeName=n1",
                           "metadata.name=web-9,status.phase=Failed"})
    EXPECT_FALSE(selects(text)) << text;
}

TEST(WorkloadFields, WhatCannotBeSelectedIsRefused) {
  EXPECT_EQ(field_filter("spec.replicas=3", "Pod").error().message,
            "objects of kind Pod cannot be selected by `spec.replicas`, only by metadata.name, "
            "metadata.namespace, status.phase, spec.nodeName");
  EXPECT_FALSE(field_filter("status.phase=Running", "CloneSet"));
  for (const char* text : {"name", "=x", "metadata.name=a,"})
    EXPECT_FALSE(field_filter(text, "Pod")) << text;
}

TEST(WorkloadFields, APathLeadsToAField) {
  const auto at = [](const char* path) { return field_at(web, *field_path(path)); };
  EXPECT_EQ(at(".metadata.name"), Value("web-9"));
  EXPECT_EQ(at("{.spec.replicas}"), Value(3));
  EXPECT_EQ(at("status.none.x"), Value());
  for (const char* path : {"", ".", "a[0]", "a..b", "{.items[*].x}"})
    EXPECT_FALSE(field_path(path)) << path;
}

TEST(WorkloadFields, NumbersInTextsCountAsNumbers) {
  EXPECT_TRUE(comes_before("web-9", "web-10"));
  EXPECT_FALSE(comes_before("web-10", "web-9"));
  EXPECT_FALSE(comes_before("web-9", "web-9"));
  EXPECT_TRUE(comes_before("web", "web-1"));
  EXPECT_TRUE(comes_before(9, 10));
  EXPECT_TRUE(comes_before(Value(), "a"));
  EXPECT_FALSE(comes_before("a", Value()));
}

TEST(WorkloadFields, LabelsAreShownInOrder) {
  EXPECT_EQ(labels_text(Value::dict({{"b", "2"}, {"a", "1"}})), "a=1,b=2");
  EXPECT_EQ(labels_text(Value()), "<none>");
}

}  // namespace
}  // namespace fettle
