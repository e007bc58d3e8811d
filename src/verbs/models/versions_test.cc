/// Pushes and versions over a real store: the rules of partial exports, one scenario a test, and
/// what lies beyond them.

#include "verbs/models/versions.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "controller/workload_objects.h"
#include "model/export/push_file.h"
#include "store/sqlite_store.h"
#include "tests/fixtures/versions_fixture.h"
#include "value/json.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

TEST_F(VersionsTest, S01AMemberMayNeedASharedResourceThatIsPushedAgain) {
  EXPECT_EQ(full("a:r1=1>s -:s=2"), "v1");
  EXPECT_EQ(partial("a:r1=1>s -:s=2"), "v2");
  EXPECT_EQ(state(), "-:s=2 a:r1=1>s");
}

TEST_F(VersionsTest, S02SetsThatAreNotPushedStay) {
  EXPECT_EQ(full("a:r1=1 b:r2=2"), "v1");
  EXPECT_EQ(partial("a:r1=3"), "v2");
  EXPECT_EQ(state(), "a:r1=3 b:r2=2");
  EXPECT_EQ(state(1), "a:r1=1 b:r2=2");
}

TEST_F(VersionsTest, S03FullExportsGroupAnewAndEnvironmentsAreIsolated) {
  Value strange = document(
      "a:r1=1", {{"partial", false}, {"resource_sets", Value::dict({{Name(id_of("x")), "a"}})}}, 0);
  expect_in(send(strange), "not present in the resources list: `test::R[agent,name=x]`");
  EXPECT_EQ(full("a:r1=1 b:r2=2"), "v1");
  Value nothing = document("-:r1=1 b:r2=2", {{"partial", false}}, 0);
  EXPECT_EQ(send(nothing), "v2");
  EXPECT_EQ(state(), "-:r1=1 b:r2=2");
  EXPECT_EQ(send(document("c:r1=7", {{"partial", false}}, 0), "other"), "v1");
  EXPECT_EQ(state(), "-:r1=1 b:r2=2");
  EXPECT_EQ(full("-:r1=1 -:r2=2", {{"resource_sets", Value::dict({{Name(id_of("r1")), Value()},
                                                                  {Name(id_of("r2")), "a"}})}}),
            "v3");
  EXPECT_EQ(state(), "-:r1=1 a:r2=2") << "a set may be null";
  EXPECT_EQ(full("-:r1=1 -:r2=2", {{"resource_sets", Value::dict({})}}), "v4");
  EXPECT_EQ(state(), "-:r1=1 -:r2=2");
  EXPECT_EQ(state({}, "other"), "c:r1=7");
}

TEST_F(VersionsTest, S04NumbersOfVersions) {
  EXPECT_EQ(partial("a:r1=1"),
            "A partial export requires a base model but no versions have been exported yet.");
  EXPECT_EQ(full("a:r1=1"), "v1");
  expect_in(send(document("a:r1=1", {{"partial", true}}, 1)),
            "Resources for partial export should not contain version information");
  EXPECT_EQ(partial("a:r1=2"), "v2");
  EXPECT_EQ(partial("a:r1=3"), "v3");
  EXPECT_EQ(send(document("a:r1=4", {{"version", 7}}, 7)), "v7");
  EXPECT_EQ(partial("a:r1=5"), "v8");
}

TEST_F(VersionsTest, S05APushedSetReplacesAllOfTheOldOne) {
  EXPECT_EQ(full("a:r1=1 a:r2=2"), "v1");
  EXPECT_EQ(partial("a:r3=3"), "v2");
  EXPECT_EQ(state(), "a:r3=3");
  EXPECT_EQ(diff(1, 2), "-r1 -r2 +r3");
}

TEST_F(VersionsTest, S06AndS14SetsNameResourcesOfThePush) {
  EXPECT_EQ(full("a:r1=1"), "v1");
  expect_in(partial("a:r1=1", {{"resource_sets", Value::dict({{Name(id_of("r9")), "a"}})}}),
            "not present in the resources list");
  expect_in(partial("a:r1=1", {{"resource_sets", Value::dict({{"hello", "a"}})}}),
            "Invalid id for resource hello");
  EXPECT_EQ(state(), "a:r1=1");
}

TEST_F(VersionsTest, S07NewSharedResourcesAreAdded) {
  EXPECT_EQ(full("-:s=1 a:r1=1"), "v1");
  EXPECT_EQ(partial("-:t=2"), "v2");
  EXPECT_EQ(state(), "-:s=1 -:t=2 a:r1=1");
}

TEST_F(VersionsTest, S08Moves) {
  EXPECT_EQ(full("a:r1=1 b:r2=2 -:s=3"), "v1");
  const std::string moves = partial("new1:r1=1 new2:r2=2");
  expect_in(moves, "a full compile is necessary for this process:");
  expect_in(moves, "test::R[agent,name=r1] moved from a to new1");
  expect_in(moves, "test::R[agent,name=r2] moved from b to new2");
  EXPECT_EQ(partial("b:r1=1 a:r2=2"), "v2");
  EXPECT_EQ(state(), "-:s=3 a:r2=2 b:r1=1");
  EXPECT_EQ(diff(1, 2), ">r2 >r1");
  EXPECT_EQ(partial("c:r1=1 d:r2=2", {removed({"a", "b"})}), "v3");
  EXPECT_EQ(state(), "-:s=3 c:r1=1 d:r2=2");
  EXPECT_EQ(partial("-:r1=1", {removed({"c"})}), "v4");
  EXPECT_EQ(state(), "-:r1=1 -:s=3 d:r2=2");
  expect_in(partial("d:r2=2 d:s=3"),
            "A partial compile only migrate resources between resource set that are pushed "
            "together. Trying to move test::R[agent,name=s] from no resource set");
  expect_in(partial("d:s=3 -:t=1", {{"resource_sets", Value::dict({{Name(id_of("s")), "d"},
                                                                   {Name(id_of("t")), Value()}})}}),
            "Trying to move test::R[agent,name=s]");
  EXPECT_EQ(state(), "-:r1=1 -:s=3 d:r2=2");
}

TEST_F(VersionsTest, S08MovesOfOneEndOfAnEdge) {
  EXPECT_EQ(full("a:r1=1>r2 a:r2=2"), "v1");
  expect_in(partial("b:r1=1>r2 a:r2=2"),
            "A dependency exists between resources test::R[agent,name=r1] and "
            "test::R[agent,name=r2], but they belong to different resource sets.");
  expect_in(partial("b:r2=2"), "test::R[agent,name=r2] moved from a to b");
}

TEST_F(VersionsTest, S09ASharedResourceIsNotUpdated) {
  EXPECT_EQ(full("-:s=1 a:r1=1"), "v1");
  EXPECT_EQ(partial("-:s=2 a:r1=1"),
            "Resource (test::R[agent,name=s]) without a resource set cannot be updated via a "
            "partial compile; `value` is \"1\" there and \"2\" here");
  EXPECT_EQ(state(), "-:s=1 a:r1=1");
}

TEST_F(VersionsTest, S10SeveralSetsInOnePush) {
  EXPECT_EQ(full("a:r1=1 b:r2=1 c:r3=1"), "v1");
  EXPECT_EQ(partial("a:r1=2 b:r2=2"), "v2");
  EXPECT_EQ(state(), "a:r1=2 b:r2=2 c:r3=1");
}

TEST_F(VersionsTest, S11AndS21AndS22DanglingNeeds) {
  expect_in(full("a:r1=1>r9"), "no dangling dependencies: `test::R[agent,name=r9]`");
  EXPECT_EQ(full("a:r1=1 b:r2=1 -:s=1"), "v1");
  expect_in(partial("a:r1=1>r9"), "no dangling dependencies");
  expect_in(partial("a:r1=1>r2"), "no dangling dependencies: `test::R[agent,name=r2]`");
  expect_in(partial("a:r1=1>s"), "no dangling dependencies: `test::R[agent,name=s]`");
}

TEST_F(VersionsTest, S12EverythingAtOnce) {
  EXPECT_EQ(full("a:a1=1 a:a2=1 b:b1=1 b:b2=1 c:c1=1 c:c2=1>c1 -:s=1 -:t=1"), "v1");
  EXPECT_EQ(partial("a:a1=2 a:a3=1>s new:n1=1 new:n2=1>n1 -:s=1 -:u=1", {removed({"b"})}), "v2");
  EXPECT_EQ(state(), "-:s=1 -:t=1 -:u=1 a:a1=2 a:a3=1>s c:c1=1 c:c2=1>c1 new:n1=1 new:n2=1>n1");
  EXPECT_EQ(diff(1, 2), "+u ~a1 -a2 +a3 -b1 -b2 +n1 +n2");
}

TEST_F(VersionsTest, S13WrongTypes) {
  EXPECT_EQ(full("a:r1=1"), "v1");
  expect_in(send(Value::dict({{"resources", Value::list({"x"})}})),
            "`resources` must be a list of objects");
  expect_in(send(Value::dict({{"resources", "x"}})), "`resources` must be a list of objects");
  expect_in(send(Value::dict({{"resource", "x"}})),
            "unknown field `resource` of a push, did you mean");
}

TEST_F(VersionsTest, S15SetsOfTwoEnvironments) {
  for (const char* environment : {"e", "f"})
    EXPECT_EQ(send(document("a:r1=1 b:r2=1", {{"partial", false}}, 0), environment), "v1");
  EXPECT_EQ(partial("a:r1=2"), "v2");
  EXPECT_EQ(state({}, "f"), "a:r1=1 b:r2=1");
}

TEST_F(VersionsTest, S16ASetIsNotBothPushedAndRemoved) {
  EXPECT_EQ(full("a:r1=1"), "v1");
  expect_in(partial("a:r1=2", {removed({"a"})}), "removed resource sets and in the resources");
  expect_in(full("a:r1=2", {removed({"b"})}),
            "Cannot remove resource sets when a full compile was done");
  EXPECT_EQ(state(), "a:r1=1");
}

TEST_F(VersionsTest, S17AndS18StatesAreThoseOfTheWhole) {
  const auto undefined = [](const char* name) {
    return Entry{"resource_state", Value::dict({{Name(id_of(name)), "undefined"}})};
  };
  EXPECT_EQ(full("a:r1=1 a:r2=1>r1 b:r3=1>s -:s=1", {undefined("r1")}), "v1");
  EXPECT_EQ(state(), "-:s=1 a:r1=1! a:r2=1>r1~ b:r3=1>s");
  EXPECT_EQ(partial("c:r4=1", {undefined("r4")}), "v2");
  EXPECT_EQ(state(), "-:s=1 a:r1=1! a:r2=1>r1~ b:r3=1>s c:r4=1!");
  EXPECT_EQ(partial("a:r1=1 a:r2=1>r1"), "v3");
  EXPECT_EQ(state(), "-:s=1 a:r1=1 a:r2=1>r1 b:r3=1>s c:r4=1!");
}

TEST_F(VersionsTest, S19Unknowns) {
  const auto all = [](std::vector<std::pair<const char*, const char*>> named) {
    std::vector<Value> list;
    for (const auto& [parameter, resource] : named)
      list.push_back(Value::dict({{"parameter", parameter},
                                  {"resource", *resource == 0 ? Value("") : Value(id_of(resource))},
                                  {"source", "fact"},
                                  {"resolved", std::string_view(parameter) == "two"}}));
    return Entry{"unknowns", Value::list(std::move(list))};
  };
  EXPECT_EQ(
      full("a:r1=1 a:r2=1 b:r3=1 -:s=1",
           {all({{"one", "r1"}, {"two", "r2"}, {"three", "r3"}, {"four", ""}, {"five", "s"}})}),
      "v1");
  EXPECT_EQ(unknowns(), "five four one three two");
  EXPECT_EQ(partial("b:r3=2", {all({{"new", "r3"}})}), "v2");
  EXPECT_EQ(unknowns(), "five four new one");
  EXPECT_EQ(partial("-:s=1"), "v3");
  EXPECT_EQ(unknowns(), "four new one");
}

TEST_F(VersionsTest, S20AnEdgeFromASharedResourceStaysAsLongAsItsTarget) {
  EXPECT_EQ(full("-:s=1>r1 a:r1=1 b:r2=1"), "v1");
  EXPECT_EQ(partial("a:r1=2"), "v2");
  EXPECT_EQ(state(), "-:s=1>r1 a:r1=2 b:r2=1");
  EXPECT_EQ(partial("a:r3=2"), "v3");
  EXPECT_EQ(state(), "-:s=1 a:r3=2 b:r2=1");
  EXPECT_EQ(partial("a:r1=2 -:s=1"), "v4");
  EXPECT_EQ(state(), "-:s=1 a:r1=2 b:r2=1");
  EXPECT_EQ(partial("", {removed({"a"})}), "v5");
  EXPECT_EQ(state(), "-:s=1 b:r2=1");
  const Push push = *read_push(document("b:r2=5", {}, 0));
  const Result<PushResult> tried = push_version(place_, "e", push, {}, true);
  ASSERT_TRUE(tried.has_value()) << to_string(tried.error());
  EXPECT_EQ(state(), "-:s=1 b:r2=1") << "a dry run stores nothing";
}

TEST_F(VersionsTest, ANeedThatWentWithItsTargetDoesNotComeBack) {
  EXPECT_EQ(full("-:s=1>r1 -:t=1>r1 a:r1=1 b:r2=1"), "v1");
  EXPECT_EQ(partial("", {removed({"a"})}), "v2");
  EXPECT_EQ(state(), "-:s=1 -:t=1 b:r2=1");
  EXPECT_EQ(diff(1, 2), "~s ~t -r1");
  // Nor does it make a circle with what needs it now.
  EXPECT_EQ(partial("a:r1=1>s -:s=1"), "v3");
  EXPECT_EQ(state(), "-:s=1 -:t=1 a:r1=1>s b:r2=1");
  EXPECT_EQ(partial("a:r1=1 -:s=1 -:t=1>r1"), "v4");
  EXPECT_EQ(state(), "-:s=1 -:t=1>r1 a:r1=1 b:r2=1");
  EXPECT_EQ(partial("a:r3=1"), "v5");
  EXPECT_EQ(partial("a:r1=1 a:r3=1"), "v6");
  EXPECT_EQ(state(), "-:s=1 -:t=1 a:r1=1 a:r3=1 b:r2=1");
}

TEST_F(VersionsTest, NeedsOfSharedResourcesThatGrowAreTold) {
  EXPECT_EQ(full("-:s=1 a:r1=1"), "v1");
  const Push push = *read_push(document("a:r1=1 -:s=1>r1", {}, 0));
  now_ += 1s;
  const Result<PushResult> pushed = push_version(place_, "e", push, {}, false);
  ASSERT_TRUE(pushed.has_value()) << to_string(pushed.error());
  ASSERT_EQ(pushed->changes.size(), 1u);
  EXPECT_EQ(pushed->changes[0].changed, std::vector<Name>{id_of("s")});
  EXPECT_EQ(diff(1, 2), "~s");
  EXPECT_EQ(partial("a:r1=1 -:s=1"), "v3");
  EXPECT_EQ(diff(2, 3), "");
}

TEST_F(VersionsTest, AResourceThatIsPutIntoNoSetLeavesOtherUnknownsAlone) {
  const Entry of_none{
      "unknowns",
      Value::list({Value::dict(
          {{"parameter", "one"}, {"resource", ""}, {"source", "fact"}, {"resolved", false}})})};
  EXPECT_EQ(full("a:r1=1 -:s=1", {of_none}), "v1");
  Value pushed = document("a:r1=2 -:s=1", {}, 0);
  std::vector<Entry> sets(pushed.at("resource_sets").entries().begin(),
                          pushed.at("resource_sets").entries().end());
  sets.push_back({Name(id_of("s")), Value()});
  EXPECT_EQ(send(Value::dict({{"resources", pushed.at("resources")},
                              {"resource_sets", Value::dict(std::move(sets))}})),
            "v2");
  EXPECT_EQ(unknowns(), "one");
}

TEST_F(VersionsTest, AFieldThatIsNullIsOneAllTheSame) {
  const auto push = [&](bool has_field) {
    std::vector<Entry> entries{{"id", cat(id_of("r1"), ",v=0")}, {"requires", Value::list({})}};
    if (has_field)
      entries.push_back({"mode", Value()});
    return send(Value::dict({{"resources", Value::list({Value::dict(std::move(entries))})},
                             {"resource_sets", Value::dict({})},
                             {"partial", false}}));
  };
  EXPECT_EQ(push(true), "v1");
  EXPECT_EQ(push(false), "v2");
  const auto found = *diff_versions(place_, "e", 1, 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fields, std::vector<std::string>{"mode"});
}

TEST_F(VersionsTest, AStateAloneIsAChange) {
  const auto push = [&](const char* state) {
    const Value states = Value::dict({{Name(id_of("r1")), state}});
    return *push_version(
        place_, "e",
        *read_push(document("a:r1=1 b:r2=1", {{"resource_state", states}, {"partial", false}}, 0)),
        {}, false);
  };
  EXPECT_EQ(push("available").number, 1u);
  const PushResult second = push("undefined");
  ASSERT_EQ(second.changes.size(), 1u);
  EXPECT_EQ(second.changes[0].changed, std::vector<Name>{id_of("r1")});
  const auto found = *diff_versions(place_, "e", 1, 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fields, std::vector<std::string>{"resource_state"});
  EXPECT_EQ(found[0].before.text_at("resource_state"), "available");
  EXPECT_EQ(found[0].after.text_at("resource_state"), "undefined");
  EXPECT_TRUE(push("undefined").changes.empty());
}

TEST_F(VersionsTest, S23WhatIsSuitableForPartialExports) {
  EXPECT_EQ(full("a:r1=1>r2 b:r2=1"), "v1");
  const std::string refused = partial("a:r1=1");
  expect_in(refused, "Base version 1 is not suitable for partial compiles.");
  expect_in(refused, "test::R[agent,name=r1] and test::R[agent,name=r2]");
  EXPECT_EQ(full("a:r1=1 b:r2=1"), "v2");
  EXPECT_EQ(partial("a:r1=2"), "v3");
  EXPECT_EQ(partial("a:r1=3"), "v4");
}

TEST_F(VersionsTest, S30AStaleFullExportIsRefused) {
  EXPECT_EQ(full("a:r1=1"), "v1");
  EXPECT_EQ(send(document("a:r1=2", {{"version", 5}}, 5)), "v5");
  expect_in(send(document("a:r1=2", {{"version", 3}}, 3)),
            "version 3 is stale: version 5 has been exported since");
  expect_in(send(document("a:r1=2", {{"version", 5}}, 5)), "Versions should be unique.");
  EXPECT_EQ(partial("b:r2=1"), "v6");
  expect_in(full("a:r1=2", {{"base", 5}}), "others changed the same things: `b`");
  EXPECT_EQ(full("a:r1=2 b:r2=1", {{"base", 5}}), "v7");
  const Status released = store_->wish("e", [&](Wish& wish) { return wish.release(5, now_); });
  ASSERT_TRUE(released.has_value()) << "it was released before";
  EXPECT_EQ(current_release(*store_->versions().heads("e")), 5u);
}

TEST_F(VersionsTest, S32TheCodeThatReadsResourcesIsThatOfTheBase) {
  const auto code = [](int version) {
    return Entry{"module_version_info", Value::dict({{"std", version}})};
  };
  EXPECT_EQ(full("a:r1=1", {code(1)}), "v1");
  EXPECT_EQ(partial("a:r1=2", {code(1)}), "v2");
  expect_in(partial("a:r1=3", {code(2)}), "version mismatch for modules: std");
  EXPECT_EQ(partial("a:r1=3", {code(2), {"allow_handler_code_update", true}}), "v3");
  EXPECT_EQ(partial("a:r1=4", {code(2)}), "v4");
}

TEST_F(VersionsTest, OnlyAModuleThatBothHaveCanDiffer) {
  const auto codes = [](std::vector<Entry> modules) {
    return Entry{"module_version_info", Value::dict(std::move(modules))};
  };
  const auto module = [](const char* name, const char* version, const char* file) {
    return Entry{name, Value::dict({{"name", name}, {"version", version}, {"files", file}})};
  };
  EXPECT_EQ(full("a:r1=1", {codes({module("std", "1", "x"), module("net", "1", "x")})}), "v1");
  // Other files of one version are equal; what is new or not told is no update.
  EXPECT_EQ(partial("a:r1=2", {codes({module("std", "1", "y")})}), "v2");
  EXPECT_EQ(partial("a:r1=3", {codes({module("new", "7", "x")})}), "v3");
  EXPECT_EQ(partial("a:r1=4"), "v4");
  // The rest is remembered all the while.
  expect_in(
      partial("a:r1=5",
              {codes({module("std", "1", "x"), module("net", "2", "x"), module("new", "8", "x")})}),
      "version mismatch for modules: net, new");
}

TEST_F(VersionsTest, ADifferenceHasBothValuesOfNeedsAndOfNull) {
  EXPECT_EQ(full("a:r1=1 a:r2=1 a:r3=1>r1"), "v1");
  EXPECT_EQ(partial("a:r1=1 a:r2=1 a:r3=1>r2"), "v2");
  const std::vector<ItemDifference> found = *diff_versions(place_, "e", 1, 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fields, std::vector<std::string>{"requires"});
  EXPECT_EQ(found[0].before.at("requires"), Value::list({Value(id_of("r1"))}));
  EXPECT_EQ(found[0].after.at("requires"), Value::list({Value(id_of("r2"))}));

  const auto push = [&](const Value& mode) {
    const Value item = Value::dict(
        {{"id", cat(id_of("r1"), ",v=0")}, {"requires", Value::list({})}, {"mode", mode}});
    return send(Value::dict({{"resources", Value::list({item})},
                             {"resource_sets", Value::dict({})},
                             {"partial", false}}),
                "n");
  };
  EXPECT_EQ(push(Value()), "v1");
  EXPECT_EQ(push("0644"), "v2");
  EXPECT_EQ(push(Value()), "v3");
  for (const uint64_t older : {uint64_t{1}, uint64_t{2}}) {
    const std::vector<ItemDifference> of_null = *diff_versions(place_, "n", older, older + 1);
    ASSERT_EQ(of_null.size(), 1u);
    EXPECT_EQ(of_null[0].fields, std::vector<std::string>{"mode"});
    const Value &null_side = older == 1 ? of_null[0].before : of_null[0].after,
                &other = older == 1 ? of_null[0].after : of_null[0].before;
    ASSERT_NE(null_side.find("mode"), nullptr) << "null is there";
    EXPECT_TRUE(null_side.at("mode").is_null());
    EXPECT_EQ(other.text_at("mode"), "0644");
  }
}

TEST_F(VersionsTest, S33DifferencesCostWhatWasTouched) {
  EXPECT_EQ(full("a:r1=1 b:r2=1 -:s=1"), "v1");
  EXPECT_EQ(partial("a:r1=2"), "v2");
  EXPECT_EQ(partial("a:r1=1"), "v3");
  EXPECT_EQ(diff(1, 2), "~r1");
  EXPECT_EQ(diff(2, 3), "~r1");
  EXPECT_EQ(diff(1, 3), "");
  EXPECT_EQ(diff(3, 3), "");
  expect_in(diff(1, 9), "there is no version 9 of `e`; the newest is 3");
  EXPECT_EQ(store_->versions().touched_between("e", 1, 2)->size(), 1u);
}

TEST_F(VersionsTest, S34NeedsAreNoAttributes) {
  EXPECT_EQ(full("-:s=1 -:t=1 a:r1=1"), "v1");
  EXPECT_EQ(partial("-:s=1>t -:t=1"), "v2");
  EXPECT_EQ(state(), "-:s=1>t -:t=1 a:r1=1");
  EXPECT_EQ(send(document("-:s=1 -:t=1 a:r1=1", {{"version", 5}}, 5)), "v5");
  EXPECT_EQ(diff(1, 5), "") << "the number of a version is no attribute";
  EXPECT_EQ(partial("-:s=1 a:r1=1"), "v6");
  EXPECT_EQ(diff(5, 6), "");
}

/// A push with every fault is refused for the first of them, without it for the second, and so on.
TEST_F(VersionsTest, FaultsAreFoundInTheOrderOfTheRules) {
  const auto code = [](int version) {
    return Entry{"module_version_info", Value::dict({{"std", version}})};
  };
  const Entry strange{"resource_sets",
                      Value::dict({{Name(id_of("r1")), "a"}, {Name(id_of("x")), "a"}})};
  ASSERT_EQ(full("a:r1=1 b:r2=1 c:r3=1 -:s=1 -:t=1", {code(1)}), "v1");
  ASSERT_EQ(send(document("a:r1=1>r2 b:r2=1", {{"partial", false}, code(1)}, 0), "crossed"), "v1");
  const std::string all = "a:r1=1>r2,r9 b:r2=1 a:s=1 -:t=2 a:r3=1";
  struct Row {
    const char* environment;
    std::string text;
    std::vector<Entry> more;
    uint64_t version;
    const char* said;
  };
  const std::vector<Row> rows{
      {"new", all, {strange, removed({"a"})}, 1, "should not contain version information"},
      {"new", all, {strange, removed({"a"})}, 0, "removed resource sets and in the resources"},
      {"new", all, {strange}, 0, "no versions have been exported yet"},
      {"crossed", all, {strange}, 0, "Base version 1 is not suitable for partial compiles"},
      {"e", all, {strange}, 0, "not present in the resources list"},
      {"e", all, {}, 0, "no dangling dependencies: `test::R[agent,name=r9]`"},
      {"e", "a:r1=1>r2 b:r2=1 a:s=1 -:t=2 a:r3=1", {}, 0, "Trying to move test::R[agent,name=s]"},
      {"e", "a:r1=1>r2 b:r2=1 -:t=2 a:r3=1", {}, 0, "but they belong to different resource sets"},
      {"e", "a:r1=1 b:r2=1 -:t=2 a:r3=1", {}, 0, "cannot be updated via a partial compile"},
      {"e", "a:r1=1 b:r2=1 a:r3=1", {}, 0, "test::R[agent,name=r3] moved from c to a"},
      {"e", "a:r1=1 b:r2=1", {}, 0, "version mismatch for modules: std"}};
  for (Row row : rows) {
    row.more.push_back(code(2));
    expect_in(send(document(row.text, row.more, row.version), row.environment), row.said);
    EXPECT_EQ(state(), "-:s=1 -:t=1 a:r1=1 b:r2=1 c:r3=1");
  }
  EXPECT_EQ(partial("a:r1=1 b:r2=1", {code(1)}), "v2");
}

TEST_F(VersionsTest, ARemovedSetTakesItsResourcesAndNoOthers) {
  EXPECT_EQ(full("a:r1=1 b:r2=1 -:s=1"), "v1");
  EXPECT_EQ(partial("", {removed({"a", "never-there"})}), "v2");
  EXPECT_EQ(state(), "-:s=1 b:r2=1");
}

TEST_F(VersionsTest, ACircleOverTwoPushesIsRefused) {
  EXPECT_EQ(full("-:s=1 -:t=1>b1 a:a1=1 b:b1=1"), "v1");
  EXPECT_EQ(partial("b:b1=1>s -:s=1"), "v2");
  const std::string refused = partial("-:s=1>a1 a:a1=1>t -:t=1");
  expect_in(refused, "Dependency cycle: ");
  expect_in(refused, "(sets `a`, `b`)");
  EXPECT_EQ(state(), "-:s=1 -:t=1>b1 a:a1=1 b:b1=1>s");
  expect_in(full("a:r1=1>r2 a:r2=1>r1"), "Dependency cycle: test::R[agent,name=r1] -> ");
  expect_in(full("a:r1=1>r1"), "Dependency cycle: test::R[agent,name=r1] -> ");
}

TEST_F(VersionsTest, PushesThatTouchOtherSetsAreCarriedOver) {
  EXPECT_EQ(full("a:r1=1 b:r2=1"), "v1");
  EXPECT_EQ(partial("a:r1=2", {{"base", 1}}), "v2");
  EXPECT_EQ(partial("b:r2=2", {{"base", 1}}), "v3");
  EXPECT_EQ(state(), "a:r1=2 b:r2=2");
  expect_in(partial("b:r2=3", {{"base", 2}}), "others changed the same things: `b`");
  EXPECT_EQ(partial("b:r2=2", {{"base", 2}}), "v4") << "equal contents never conflict";
  expect_in(partial("b:r2=2", {{"base", 9}}), "there is no version 9 to use as a base");
}

TEST_F(VersionsTest, PushesAtOnceTakeConsecutiveNumbers) {
  const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  const std::string file = (folder->path() / "store.db").string();
  const auto push = [&](const std::string& text, bool is_partial) {
    const Result<std::unique_ptr<Store>> store = open_sqlite_store(file);
    Workplace place = place_;
    place.store = store->get();
    place.clock = [] { return Time(1s); };
    Push made = *read_push(document(text, {{"partial", is_partial}}, 0));
    const Result<PushResult> pushed = push_version(place, "e", std::move(made), {}, false);
    return pushed ? pushed->number : 0;
  };
  ASSERT_EQ(push("a:r1=1", false), 1u);
  std::vector<uint64_t> numbers(5);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < numbers.size(); ++i)
    threads.emplace_back([&, i] { numbers[i] = push(cat("set", i, ":t", i, "=1"), true); });
  for (std::thread& thread : threads)
    thread.join();
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, (std::vector<uint64_t>{2, 3, 4, 5, 6}));
  const Result<std::unique_ptr<Store>> store = open_sqlite_store(file);
  place_.store = store->get();
  EXPECT_EQ(state(), "a:r1=1 set0:t0=1 set1:t1=1 set2:t2=1 set3:t3=1 set4:t4=1");
  std::set<std::string> before;
  for (uint64_t number = 1; number <= 6; ++number) {
    std::set<std::string> now;
    const std::string text = state(number);
    for (const std::string_view token : split(text, ' '))
      now.emplace(token);
    EXPECT_EQ(now.size(), number);
    EXPECT_TRUE(std::ranges::includes(now, before)) << "version " << number << " lost something";
    before = std::move(now);
  }
}

TEST_F(VersionsTest, OldVersionsAreForgottenAsTheSettingSays) {
  ASSERT_TRUE(set_setting(place_, "e", "available_versions_to_keep", "2").has_value());
  EXPECT_FALSE(set_setting(place_, "e", "available_versions_to_keep", "0").has_value());
  EXPECT_EQ(full("a:r1=1 b:r2=1"), "v1");
  EXPECT_EQ(partial("a:r1=2"), "v2");
  EXPECT_EQ(partial("a:r1=3"), "v3");
  EXPECT_EQ(store_->versions().heads("e")->size(), 2u);
  EXPECT_EQ(state(2), "a:r1=2 b:r2=1");
  expect_in(state(1), "there is no version 1");
  EXPECT_EQ(state(), "a:r1=3 b:r2=1");
}

TEST_F(VersionsTest, AFullExportIsDueAsTheSettingSays) {
  EXPECT_FALSE(*full_export_is_due(place_, "e"));
  ASSERT_TRUE(set_setting(place_, "e", "auto_full_compile", "0 1 * * *").has_value());
  EXPECT_FALSE(set_setting(place_, "e", "auto_full_compile", "0 1 * *").has_value());
  EXPECT_TRUE(*full_export_is_due(place_, "e"));
  now_ = Time(24h + 30min);
  EXPECT_EQ(full("a:r1=1"), "v1");
  EXPECT_FALSE(*full_export_is_due(place_, "e"));
  now_ = Time(24h + 59min);
  EXPECT_FALSE(*full_export_is_due(place_, "e"));
  now_ = Time(25h);
  EXPECT_TRUE(*full_export_is_due(place_, "e"));
  EXPECT_EQ(partial("a:r1=2"), "v2");
  EXPECT_TRUE(*full_export_is_due(place_, "e")) << "a partial export is none";
}

TEST_F(VersionsTest, AModelAndWorkloadsDoNotShareAnEnvironment) {
  const auto apply = [&](const Name& environment) {
    workloads::Manifests read = workloads::read_manifests(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: text}\n", "m.yaml", {});
    const auto stored = store_objects(place_, environment, std::move(read.objects));
    return stored ? std::string("stored") : stored.error().message;
  };
  EXPECT_EQ(apply("e"), "stored");
  expect_in(full("a:r1=1"), "`e` holds workloads");
  EXPECT_EQ(stored_objects(place_, "e")->size(), 1u);
  EXPECT_EQ(send(document("a:r1=1", {{"partial", false}}, 0), "f"), "v1");
  expect_in(apply("f"), "`f` holds a model");
  EXPECT_EQ(state({}, "f"), "a:r1=1");
}

}  // namespace
}  // namespace fettle
