/// Pushes and versions over a real store: the rules of partial exports, one scenario a test, and
/// what lies beyond them. A push is written as `set:name=value>need,need …`, `-` for no set.

#include "verbs/versions.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "store/sqlite_store.h"
#include "value/json.h"
#include "verbs/push_file.h"
#include "verbs/settings.h"
#include "verbs/workload_objects.h"

namespace fettle {
namespace {

std::string id_of(std::string_view name) { return cat("test::R[agent,name=", name, "]"); }

class VersionsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_sqlite_store(":memory:");
    ASSERT_TRUE(opened.has_value()) << to_string(opened.error());
    store_ = std::move(*opened);
    place_.store = store_.get();
    place_.clock = [this] { return now_; };
    place_.random = [] { return uint64_t{7}; };
    place_.interrupt = &interrupt_;
  }

  /// The arguments of the original's call.
  static Value document(std::string_view text, const std::vector<Entry>& more, uint64_t version) {
    std::vector<Value> resources;
    std::vector<Entry> sets;
    for (const std::string_view token : split(text, ' ')) {
      if (token.empty())
        continue;
      const size_t colon = token.find(':'), equals = token.find('='), arrow = token.find('>');
      const std::string name(token.substr(colon + 1, equals - colon - 1));
      const std::string value(token.substr(equals + 1, arrow - equals - 1));
      std::vector<Value> needs;
      if (arrow != token.npos)
        for (const std::string_view need : split(token.substr(arrow + 1), ','))
          needs.emplace_back(cat(id_of(need), ",v=", version));
      resources.push_back(Value::dict({{"id", cat(id_of(name), ",v=", version)},
                                       {"value", value},
                                       {"requires", Value::list(std::move(needs))}}));
      if (token.substr(0, colon) != "-")
        sets.push_back({Name(id_of(name)), token.substr(0, colon)});
    }
    std::vector<Entry> entries{{"resources", Value::list(std::move(resources))},
                               {"resource_sets", Value::dict(std::move(sets))}};
    entries.insert(entries.end(), more.begin(), more.end());
    return Value::dict(std::move(entries));
  }

  std::string send(const Value& document, std::string_view environment = "e") {
    Result<Push> push = read_push(document);
    if (!push)
      return push.error().message;
    return send(*push, {}, environment);
  }
  std::string send(const Push& push, const Claims& claims, std::string_view environment = "e") {
    now_ += 1s;
    const Result<Pushed> pushed = push_version(place_, environment, push, claims, false);
    return pushed ? cat("v", pushed->number) : pushed.error().message;
  }
  std::string full(std::string_view text, std::vector<Entry> more = {}) {
    more.push_back({"partial", false});
    return send(document(text, more, 0));
  }
  std::string partial(std::string_view text, std::vector<Entry> more = {}) {
    return send(document(text, more, 0));
  }
  static Entry removed(std::initializer_list<const char*> sets) {
    return {"removed_resource_sets", Value::list(std::vector<Value>(sets.begin(), sets.end()))};
  }

  /// All of a version in the notation of the pushes, with marks for states.
  std::string state(std::optional<uint64_t> number = {}, std::string_view environment = "e") {
    const Result<WholeVersion> whole = read_version(place_, environment, number);
    if (!whole)
      return whole.error().message;
    std::string text;
    for (const WholeItem& item : whole->items) {
      const std::string_view id = item.item.id;
      text += cat(text.empty() ? "" : " ", item.set.empty() ? "-" : item.set.view(), ":",
                  short_name(id), "=", item.item.attributes.text_at("value"));
      for (size_t i = 0; i < item.item.needs.size(); ++i)
        text += cat(i == 0 ? ">" : ",", short_name(item.item.needs[i]));
      if (item.state != WholeItem::State::available)
        text += item.state == WholeItem::State::undefined ? "!" : "~";
    }
    return text;
  }
  static std::string short_name(std::string_view id) {
    const size_t begin = id.find("name=") + 5;
    return std::string(id.substr(begin, id.size() - begin - 1));
  }

  std::string diff(uint64_t older, uint64_t newer) {
    const Result<std::vector<ItemDifference>> found = diff_versions(place_, "e", older, newer);
    if (!found)
      return found.error().message;
    std::string text;
    for (const ItemDifference& one : *found)
      text +=
          cat(text.empty() ? "" : " ",
              std::array{"+", "~", ">", "-"}[static_cast<size_t>(one.type)], short_name(one.id));
    return text;
  }

  std::string unknowns(std::optional<uint64_t> number = {}) {
    std::vector<std::string> names;
    const Result<WholeVersion> whole = read_version(place_, "e", number);
    for (const Unknown& unknown : whole->unknowns)
      names.push_back(unknown.parameter.str());
    std::sort(names.begin(), names.end());
    return join(names, " ");
  }

  std::unique_ptr<Store> store_;
  Interrupt interrupt_;
  Workplace place_;
  Time now_{};
};

void expect_in(const std::string& text, std::string_view piece) {
  EXPECT_NE(text.find(piece), text.npos) << "`" << text << "` has no `" << piece << "`";
}

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
  const Result<Pushed> tried = push_version(place_, "e", push, {}, true);
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
  const Result<Pushed> pushed = push_version(place_, "e", push, {}, false);
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
  const Pushed second = push("undefined");
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
  expect_in(full("a:r1=2", {{"base", 5}}), "others changed what it changes: `b`");
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
  expect_in(partial("b:r2=3", {{"base", 2}}), "others changed what it changes: `b`");
  EXPECT_EQ(partial("b:r2=2", {{"base", 2}}), "v4") << "equal contents never conflict";
  expect_in(partial("b:r2=2", {{"base", 9}}), "there is no version 9 to use as a base");
}

/// What models add: who shares what, and claims.
class ClaimsTest : public VersionsTest {
 protected:
  struct Model {
    bool is_partial = false;
    std::string text;
    std::vector<Share> shares;
    std::vector<SetClaim> claims;
    std::vector<Name> removed;
  };
  std::string send_model(const Model& model) {
    Push push = *read_push(document(model.text, {{"partial", model.is_partial}}, 0));
    push.removed = model.removed;
    return send(push, {model.shares, model.claims});
  }
  static Share share(const char* set, const char* name, std::vector<const char*> needs = {}) {
    Share made{Name(id_of(name)), set, {}};
    for (const char* need : needs)
      made.needs.emplace_back(id_of(need));
    return made;
  }
  std::set<std::string> known_;  ///< environments that have their first version
  static SetClaim claim(const char* set, const char* key, const char* value, uint64_t limit = 0) {
    return {set,
            {key, Name(value).digest(), value, "main.cf:1:1",
             limit == 0 ? Claim::Rule::same : Claim::Rule::bounded, limit}};
  }
};

TEST_F(ClaimsTest, TheSoleContributorMayChangeAndTheLastOneGoneRemoves) {
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1 -:s=1", {share("a", "s"), share("b", "s")}, {}, {}}),
            "v1");
  expect_in(send_model({true, "a:r1=1 -:s=2", {share("a", "s")}, {}, {}}),
            "without a resource set cannot be updated via a partial compile; set `b` shares it; "
            "`value` is \"1\" there and \"2\" here");
  EXPECT_EQ(send_model({true, "", {}, {}, {"b"}}), "v2");
  EXPECT_EQ(state(), "-:s=1 a:r1=1");
  EXPECT_EQ(send_model({true, "a:r1=1 -:s=2", {share("a", "s")}, {}, {}}), "v3");
  EXPECT_EQ(state(), "-:s=2 a:r1=1");
  EXPECT_EQ(send_model({true, "a:r1=1", {}, {}, {}}), "v4");
  EXPECT_EQ(state(), "a:r1=1");
  EXPECT_EQ(diff(3, 4), "-s");
  EXPECT_EQ(diff(1, 4), "-s -r2");
}

TEST_F(ClaimsTest, AllContributorsTogetherMayChange) {
  const std::vector<Share> both{share("a", "s"), share("b", "s")};
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1 c:r3=1 -:s=1", both, {}, {}}), "v1");
  EXPECT_EQ(send_model({true, "a:r1=1 b:r2=1 -:s=2", both, {}, {}}), "v2");
  EXPECT_EQ(state(), "-:s=2 a:r1=1 b:r2=1 c:r3=1");
}

TEST_F(ClaimsTest, EdgesAreOfThoseWhoSayThem) {
  EXPECT_EQ(send_model({false,
                        "a:r1=1 b:r2=1 -:s=1>r1,r2",
                        {share("a", "s", {"r1"}), share("b", "s", {"r2"})},
                        {},
                        {}}),
            "v1");
  EXPECT_EQ(send_model({true, "b:r2=1 -:s=1", {share("b", "s")}, {}, {}}), "v2");
  EXPECT_EQ(state(), "-:s=1>r1 a:r1=1 b:r2=1");
  EXPECT_EQ(send_model({true, "", {}, {}, {"a"}}), "v3");
  EXPECT_EQ(state(), "-:s=1 b:r2=1");
}

TEST_F(ClaimsTest, ContradictionsNameBothSetsAndPlaces) {
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1", {}, {claim("a", "Host(id=1)", "x")}, {}}), "v1");
  EXPECT_EQ(
      send_model({true, "b:r2=1", {}, {claim("b", "Host(id=1)", "y")}, {}}),
      "Could not combine set `b` with set `a`: Host(id=1) has y in set `b` (main.cf:1:1) and x "
      "in set `a` (main.cf:1:1)");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "Host(id=1)", "x")}, {}}), "v2");
  EXPECT_EQ(send_model({true, "a:r1=1", {}, {claim("a", "Host(id=2)", "x")}, {}}), "v3");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "Host(id=1)", "y")}, {}}), "v4");
}

TEST_F(ClaimsTest, BoundsCountTheMembersOfAllSets) {
  EXPECT_EQ(send_model({false, "a:r1=1 b:r2=1", {}, {claim("a", "S(n=1).two", "x", 2)}, {}}), "v1");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "S(n=1).two", "y", 2)}, {}}), "v2");
  expect_in(send_model({true, "c:r3=1", {}, {claim("c", "S(n=1).two", "z", 2)}, {}}),
            "S(n=1).two takes at most 2 elements");
  EXPECT_EQ(send_model({true, "c:r3=1", {}, {claim("c", "S(n=1).two", "x", 2)}, {}}), "v3");
  EXPECT_EQ(send_model({true, "", {}, {}, {"b"}}), "v4");
  EXPECT_EQ(send_model({true, "b:r2=1", {}, {claim("b", "S(n=1).two", "z", 2)}, {}}), "v5");
  // `b` is pushed as it was and still counts.
  expect_in(send_model({true,
                        "b:r2=1 d:r4=1",
                        {},
                        {claim("b", "S(n=1).two", "z", 2), claim("d", "S(n=1).two", "w", 2)},
                        {}}),
            "S(n=1).two takes at most 2 elements");
}

/// Counts what a commit reads of the newest version.
class CountingSnapshot : public Snapshot {
 public:
  explicit CountingSnapshot(std::unique_ptr<Snapshot> of) : of_(std::move(of)) {}
  uint64_t number() const override { return of_->number(); }
  const Value& detail() const override { return of_->detail(); }
  Result<ContentPointer> content(const Piece& piece) const override {
    ++reads;
    return of_->content(piece);
  }
  Result<std::optional<Digest>> digest(const Piece& piece) const override {
    ++reads;
    return of_->digest(piece);
  }
  Status holders(Digest key, const std::function<Go(Digest, const Piece&)>& visit) const override {
    ++reads;
    return of_->holders(key, [&](Digest value, const Piece& piece) {
      ++reads;
      return visit(value, piece);
    });
  }
  Status holders_of(Holding holding, const std::function<Go(const Piece&)>& visit) const override {
    ++reads;
    return of_->holders_of(holding, [&](const Piece& piece) {
      ++reads;
      return visit(piece);
    });
  }
  Result<std::vector<Piece>> touched_since(uint64_t number) const override {
    return of_->touched_since(number);
  }
  Result<std::vector<std::pair<Piece, Digest>>> pieces() const override { return of_->pieces(); }

  mutable int reads = 0;

 private:
  std::unique_ptr<Snapshot> of_;
};

/// However many sets there are: a shared resource needs one of each, and another one needs the
/// shared one. Sets are replaced, grow, come and go.
TEST_F(ClaimsTest, ACommitReadsNoMoreWhenASharedResourceNeedsOneOfEachSet) {
  const auto set_of = [](size_t i, bool by_rest, Model& model) {
    const std::string one = cat("r", i), other = cat("u", i);
    model.text += cat(" s", i, ":", one, "=1 s", i, ":", other, "=1>s");
    if (by_rest)
      return one;
    model.shares.push_back({Name(id_of("s")), Name(cat("s", i)), {Name(id_of(one))}});
    model.shares.push_back({Name(id_of("t")), Name(cat("s", i)), {Name(id_of(other))}});
    return one;
  };
  const auto whole = [&](std::vector<size_t> numbers, bool is_partial, bool by_rest) {
    Model model{is_partial, "", {}, {}, {}};
    std::vector<std::string> ones, others;
    for (const size_t i : numbers) {
      ones.push_back(set_of(i, by_rest, model));
      others.push_back(cat("u", i));
    }
    model.text += cat(" -:s=1>", join(ones, ","), " -:t=1>", join(others, ","));
    return model;
  };
  const auto reads = [&](size_t count, bool by_rest, const Model& model) {
    std::vector<size_t> all(count);
    for (size_t i = 0; i < count; ++i)
      all[i] = i;
    const std::string environment = cat("e", count, by_rest ? "r" : "s");
    const Model base = whole(all, false, by_rest);
    if (!known_.contains(environment)) {
      Push push = *read_push(document(base.text, {{"partial", false}}, 0));
      EXPECT_EQ(send(push, {base.shares, {}}, environment), "v1");
      known_.insert(environment);
    }
    const CountingSnapshot newest(std::move(*store_->versions().open(environment, {})));
    Push push = *read_push(document(model.text, {{"partial", true}}, 0));
    push.removed = model.removed;
    const Result<Commit> made = commit(newest, push, {model.shares, {}});
    EXPECT_TRUE(made.has_value()) << to_string(made.error());
    return newest.reads;
  };
  for (const bool by_rest : {false, true}) {
    Model grown = whole({3}, true, by_rest), gone{true, "", {}, {}, {"s4"}};
    grown.text += " s3:more=1>s";
    for (const Model& model : {whole({3}, true, by_rest), whole({9999}, true, by_rest), grown, gone,
                               whole({3, 4, 9999}, true, by_rest)})
      EXPECT_EQ(reads(300, by_rest, model), reads(30, by_rest, model)) << model.text;
  }
}

/// Random pushes of what three sets contribute: refused exactly when all of it together has a
/// circle, and what is told of shared resources is what a walk over everything finds.
TEST_F(ClaimsTest, CirclesAndChangesAreThoseOfAllSetsTogether) {
  using Needs = std::map<std::string, std::set<std::string>>;
  struct Said {
    Needs owned, shared;
  };
  uint64_t seed = 20;
  const auto below = [&](uint64_t end) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % end;
  };
  const auto graph_of = [](const std::map<std::string, Said>& sets) {
    Needs all;
    for (const auto& [set, said] : sets)
      for (const Needs* needs : {&said.owned, &said.shared})
        for (const auto& [name, targets] : *needs)
          all[name].insert(targets.begin(), targets.end());
    return all;
  };
  const auto has_circle = [](const Needs& graph) {
    std::vector<Item> items;
    for (const auto& [name, needs] : graph)
      items.push_back({Name(name), {}, {needs.begin(), needs.end()}, {}});
    return find_cycle(items).has_value();
  };
  const auto random_set = [&](const std::string& set) {
    Said said;
    for (const char* name : {"s", "t", "v"})
      if (below(3) != 0)
        said.shared[name];
    for (uint64_t i = 0; i < 1 + below(3); ++i)
      said.owned[cat(set, i)];
    std::vector<std::string> names;
    for (const Needs* of : {&said.owned, &said.shared})
      for (const auto& [name, needs] : *of)
        names.push_back(name);
    for (Needs* of : {&said.owned, &said.shared})
      for (auto& [name, needs] : *of)
        for (const std::string& other : names)
          if (other != name && below(6) == 0)
            needs.insert(other);
    return said;
  };
  std::map<std::string, Said> sets;
  ASSERT_EQ(full("z:z0=1"), "v1");
  int refused = 0, told = 0;
  for (int step = 0; step < 600; ++step) {
    const std::string set(1, static_cast<char>('a' + below(4)));
    auto after = sets;
    Model model{true, "", {}, {}, {}};
    if (sets.contains(set) && below(4) == 0) {
      after.erase(set);
      model.removed.emplace_back(set);
    } else {
      const Said& said = after[set] = random_set(set);
      const auto add = [&](std::string_view of, const auto& resource) {
        model.text += cat(" ", of, ":", resource.first, "=1");
        if (!resource.second.empty())
          model.text += cat(
              ">",
              join(std::vector<std::string>(resource.second.begin(), resource.second.end()), ","));
      };
      for (const auto& resource : said.owned)
        add(set, resource);
      for (const auto& resource : said.shared) {
        add("-", resource);
        Share share{Name(id_of(resource.first)), Name(set), {}};
        for (const std::string& need : resource.second)
          share.needs.emplace_back(id_of(need));
        model.shares.push_back(share);
      }
    }
    Push push = *read_push(document(model.text, {{"partial", true}}, 0));
    push.removed = model.removed;
    now_ += 1s;
    const Result<Pushed> pushed = push_version(place_, "e", push, {model.shares, {}}, false);
    const Needs before = graph_of(sets), now = graph_of(after);
    ASSERT_EQ(!pushed.has_value(), has_circle(now)) << step << model.text;
    if (!pushed) {
      expect_in(pushed.error().message, "Dependency cycle: ");
      ++refused;
      continue;
    }
    std::set<std::string> changed, expected;
    for (const SetChange& change : pushed->changes)
      if (change.set.empty())
        for (const Name& id : change.changed)
          changed.insert(short_name(id));
    for (const auto& [name, needs] : now)
      if (name.size() == 1 && before.contains(name) && before.at(name) != needs)
        expected.insert(name);
    ASSERT_EQ(changed, expected) << step << model.text;
    told += static_cast<int>(expected.size());
    sets = std::move(after);
  }
  EXPECT_GT(refused, 30);
  EXPECT_GT(told, 100);
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
    const Result<Pushed> pushed = push_version(place, "e", std::move(made), {}, false);
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
