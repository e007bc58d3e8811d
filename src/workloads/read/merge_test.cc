#include "workloads/read/merge.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace fettle::workloads {
namespace {

Value parsed(std::string_view text) {
  auto read = read_json(text);
  EXPECT_TRUE(read) << text;
  return read ? *read : Value();
}
std::string text(const Value& value) { return write_json(value, {.indent = 0}); }

std::string merge(std::string_view applied, std::string_view stored, std::string_view given,
                  std::string_view kind = "CloneSet") {
  return text(merged(Name(kind), parsed(applied), parsed(stored), parsed(given)));
}

TEST(Merge, WhatAManifestDoesNotNameStays) {
  EXPECT_EQ(
      merge(R"({"spec":{"a":1}})", R"({"spec":{"a":1,"replicas":3},"x":1})", R"({"spec":{"a":1}})"),
      text(parsed(R"({"spec":{"a":1,"replicas":3},"x":1})")));
}

TEST(Merge, WhatItNamedBeforeAndDoesNotAnyMoreGoes) {
  EXPECT_EQ(merge(R"({"spec":{"a":1,"b":{"c":1,"d":2}}})", R"({"spec":{"a":1,"b":{"c":1,"d":5}}})",
                  R"({"spec":{"b":{"c":1}}})"),
            text(parsed(R"({"spec":{"b":{"c":1}}})")));
}

TEST(Merge, WhatItNamesIsTakenBack) {
  EXPECT_EQ(merge(R"({"spec":{"image":"a:1"}})", R"({"spec":{"image":"a:2"}})",
                  R"({"spec":{"image":"a:1"}})"),
            text(parsed(R"({"spec":{"image":"a:1"}})")));
}

TEST(Merge, WithoutARecordNothingIsLost) {
  EXPECT_EQ(merge("null", R"({"spec":{"a":1,"replicas":3}})", R"({"spec":{"b":2}})"),
            text(parsed(R"({"spec":{"a":1,"b":2,"replicas":3}})")));
}

TEST(Merge, ANullTakesItsFieldAwayAndIsNothingWhereThereIsNone) {
  EXPECT_EQ(merge("null", R"({"spec":{"a":1,"replicas":3}})", R"({"spec":{"replicas":null}})"),
            text(parsed(R"({"spec":{"a":1}})")));
  EXPECT_EQ(merge("null", "null", R"({"spec":{"a":{"b":null,"c":1}}})"),
            text(parsed(R"({"spec":{"a":{"c":1}}})")));
  // It named a null before, so it never set the field that somebody else set since.
  EXPECT_EQ(merge(R"({"spec":{"a":null}})", R"({"spec":{"a":1}})", R"({"spec":{}})"),
            text(parsed(R"({"spec":{"a":1}})")));
}

TEST(Merge, ListsAreTakenWholeOfKindsThatKubectlDoesNotKnow) {
  EXPECT_EQ(merge(R"({"l":[{"name":"a"}]})", R"({"l":[{"name":"a","x":1},{"name":"b"}]})",
                  R"({"l":[{"name":"a"}]})"),
            text(parsed(R"({"l":[{"name":"a"}]})")));
}

TEST(Merge, AFieldOfAnotherTypeIsTheGivenOne) {
  EXPECT_EQ(merge(R"({"a":{"b":1}})", R"({"a":{"b":1,"c":2}})", R"({"a":[1]})"),
            text(parsed(R"({"a":[1]})")));
  EXPECT_EQ(merge(R"({"a":[1]})", R"({"a":[1]})", R"({"a":{"b":1}})"),
            text(parsed(R"({"a":{"b":1}})")));
  EXPECT_EQ(merge(R"({"a":1})", R"({"a":1})", R"({"a":{"b":1}})"),
            text(parsed(R"({"a":{"b":1}})")));
}

TEST(Merge, PortsOfAServiceAreMergedByPortAndProtocol) {
  EXPECT_EQ(
      merge(R"({"spec":{"ports":[{"port":80,"name":"w"},{"port":81}]}})",
            R"({"spec":{"ports":[{"port":80,"name":"w","nodePort":3},{"port":81},{"port":9}]}})",
            R"({"spec":{"ports":[{"port":80,"name":"v","protocol":"TCP"}]}})", "Service"),
      text(parsed(
          R"({"spec":{"ports":[{"port":80,"name":"v","nodePort":3,"protocol":"TCP"},{"port":9}]}})")));
}

// kubectl knows it: its finalizers and owners are merged one by one, its data by key.
TEST(Merge, AConfigMapIsMergedByKeyAndItsListsByItem) {
  constexpr std::string_view applied =
      R"({"metadata":{"name":"c","finalizers":["a"]},"data":{"x":"1","y":"1","z":"1"}})";
  constexpr std::string_view stored =
      R"({"metadata":{"name":"c","finalizers":["a","other"],"labels":{"l":"1"}},)"
      R"("data":{"x":"by hand","y":"1","z":"1","more":"by hand"}})";
  constexpr std::string_view given =
      R"({"metadata":{"name":"c","finalizers":["b"]},"data":{"x":"1","y":"2"}})";
  EXPECT_EQ(merge(applied, stored, given, "ConfigMap"),
            text(parsed(R"({"metadata":{"labels":{"l":"1"},"name":"c","finalizers":["b","other"]},)"
                        R"("data":{"more":"by hand","x":"1","y":"2"}})")));
  EXPECT_EQ(
      merge(R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a"}]}})",
            R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a","controller":true},)"
            R"({"uid":"2","name":"b"}]}})",
            R"({"metadata":{"ownerReferences":[{"uid":"1","name":"c"}]}})", "ConfigMap"),
      text(parsed(R"({"metadata":{"ownerReferences":[{"controller":true,"uid":"1","name":"c"},)"
                  R"({"uid":"2","name":"b"}]}})")));
}

TEST(Merge, EachFieldThatIsTakenBackIsToldOnce) {
  const Value applied = parsed(R"({"spec":{"image":"a:1","replicas":1,"gone":1,"same":1}})");
  const Value stored =
      parsed(R"({"spec":{"image":"a:2","replicas":3,"gone":2,"same":1,"more":1}})");
  const Value given = parsed(R"({"spec":{"image":"a:1","replicas":1,"same":2}})");
  const auto found = taken_back(applied, stored, merged(Name("CloneSet"), applied, stored, given));
  std::vector<std::string> told;
  for (const TakenBack& field : found)
    told.push_back(field.path + " " + text(field.before) + " " + text(field.after));
  EXPECT_EQ(told, (std::vector<std::string>{"spec.gone 2 null", R"(spec.image "a:2" "a:1")",
                                            "spec.replicas 3 1"}));
}

TEST(Merge, WhatTheManifestItselfChangesIsNotTakenBack) {
  const Value applied = parsed(R"({"spec":{"image":"a:1"}})"), stored = applied;
  const Value given = parsed(R"({"spec":{"image":"a:2"}})");
  EXPECT_TRUE(
      taken_back(applied, stored, merged(Name("CloneSet"), applied, stored, given)).empty());
}

}  // namespace
}  // namespace fettle::workloads
