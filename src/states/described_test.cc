#include "states/described.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "value/json.h"

namespace fettle::states {
namespace {

DescribedModules read(std::string_view text) {
  const Value module = read_json(text).value();
  return read_described(std::vector<Value>{module});
}

std::string problem(std::string_view text) {
  const DescribedModules made = read(text);
  return made.problems.empty() ? "none" : to_string(made.problems.front());
}

TEST(Described, AModuleHasFunctionsParametersAndWhatItImplies) {
  const DescribedModules made = read(R"({
    "path": "states.cloud.vm", "file": "vm.py", "text": "Machines.", "skips_memory": true,
    "wait": {"static": {"wait_in_seconds": 1}}, "acct": ["aws", "gcp"],
    "implied": {"treq": {"require": ["cloud.net"]}, "present": {"require": ["cloud.disk.present"]},
                "unique": ["absent"]},
    "functions": [
      {"name": "present", "text": "Is there.", "parameters": [
        {"name": "name", "kind": "any"}, {"name": "size", "kind": "any"},
        {"name": "tags", "kind": "named", "default": null}, {"name": "kwargs", "kind": "named_rest"}]},
      {"name": "absent"}, {"name": "is_pending", "parameters": [{"name": "ret"}]}]})");
  ASSERT_TRUE(made.problems.empty()) << to_string(made.problems.front());
  ASSERT_EQ(made.modules.size(), 1u);
  const Module& vm = made.modules[0];
  EXPECT_EQ(vm.ref, "cloud.vm");
  EXPECT_EQ(vm.functions.size(), 2u);
  const Function& present = *vm.find("present");
  EXPECT_EQ(present.text, "Is there.");
  ASSERT_EQ(present.parameters.size(), 2u);
  EXPECT_FALSE(present.find("size")->otherwise);
  EXPECT_TRUE(present.find("tags")->otherwise->is_null());
  EXPECT_TRUE(present.takes_rest);
  EXPECT_FALSE(vm.find("absent")->takes_rest);
  EXPECT_TRUE(vm.has_is_pending);
  EXPECT_TRUE(vm.skips_memory);
  EXPECT_TRUE(vm.unique == std::vector<Name>{"absent"});
  EXPECT_TRUE(vm.providers == (std::vector<Name>{"aws", "gcp"}));
  std::string implied;
  for (const ImpliedNeeds& one : vm.implied)
    implied += cat(one.function, ":", one.require[0], " ");
  EXPECT_EQ(implied, "present:cloud.disk.present present:cloud.net absent:cloud.net ");
}

TEST(Described, AParameterHasOtherNamesAndMayBeForgotten) {
  const DescribedModules made = read(R"({"path": "states.vm", "functions": [
      {"name": "present", "remembers": ["resource_id"], "identity": "resource_id", "parameters": [
        {"name": "resource_id", "default": null}, {"name": "id_", "aliases": ["id", "ident"]}]},
      {"name": "absent", "parameters": [{"name": "size"}]}]})");
  ASSERT_TRUE(made.problems.empty()) << to_string(made.problems.front());
  const Function& present = *made.modules[0].find("present");
  EXPECT_EQ(present.find("ident"), present.find("id_"));
  EXPECT_EQ(present.find("idents"), nullptr);
  EXPECT_TRUE(present.remembers("resource_id"));
  EXPECT_FALSE(present.remembers("id"));
  EXPECT_EQ(present.identity, "resource_id");
  EXPECT_TRUE(made.modules[0].find("absent")->remembers("size"));
  EXPECT_FALSE(made.modules[0].find("absent")->remembers("color"));
  EXPECT_EQ(read(R"({"path": "states.vm", "functions": [
      {"name": "f", "parameters": [{"name": "a", "aliases": [1]}]}]})")
                .problems.at(0)
                .message,
            "the module `states.vm` says `aliases`, which is not a list of names");
}

TEST(Described, OtherPartsAreNoStates) {
  EXPECT_TRUE(read(R"({"path": "exec.vm", "functions": []})").modules.empty());
  EXPECT_EQ(read(R"({"path": "states.a.b", "functions": []})").modules[0].providers,
            std::vector<Name>{"a"});
}

TEST(Described, WhatIsWrongIsToldAndLeftOut) {
  EXPECT_EQ(problem(R"({"path": "states.a", "file": "a.py"})"),
            "a.py: the module `states.a` has no list of functions");
  EXPECT_EQ(problem(R"({"path": "states.a", "functions": [{}]})"),
            "the module `states.a` has a function without a name");
  EXPECT_EQ(problem(R"({"path": "states.a", "functions": [{"name": "f", "parameters": 5}]})"),
            "the module `states.a` has no list of parameters for `f`");
  EXPECT_EQ(problem(R"({"path": "states.a", "functions": [{"name": "f", "parameters": [5]}]})"),
            "the module `states.a` has a parameter of `f` without a name");
  EXPECT_EQ(problem(R"({"path": "states.a", "functions": [], "implied": {"unique": [5]}})"),
            "the module `states.a` says `unique`, which is not a list of names");
  EXPECT_EQ(problem(R"({"path": "states.a", "functions": [], "wait": {"statc": {}}})"),
            "the module `states.a` has an invalid wait: there is no wait algorithm "
            "`statc`, did you mean `static`?");
}

}  // namespace
}  // namespace fettle::states
