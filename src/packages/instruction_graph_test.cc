#include "packages/instruction_graph.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

Statement statement(std::string name, std::vector<Key> keys) {
  Statement made;
  made.name = name;
  made.keys = std::move(keys);
  made.detail = Value::dict({{"description", name}});
  return made;
}

Key key(std::string_view kind, std::string_view name) { return {"e", kind, name}; }

/// A template, a service that mounts it, a command in the service, one that stands alone, and one
/// that embeds what the command wrote and names the service, too.
Intent example() {
  Intent intent;
  intent.environment = "e";
  std::vector<Resource>& resources = intent.resources["p"];
  const auto add = [&](const Key& what, std::vector<Key> needs, Value attributes) {
    Resource resource;
    resource.key = what;
    resource.attributes = std::move(attributes);
    if (!needs.empty())
      resource.needs.push_back({std::move(needs)});
    resources.push_back(std::move(resource));
  };
  const auto hole = [](std::string_view kind, std::string_view name, std::string_view path) {
    return Value::deferred({Part(Output{kind, name, path})});
  };
  add(key("artifact", "page"), {}, Value::dict({}));
  add(key("service", "web"), {key("network", "default")},
      Value::dict({{"files", hole("artifact", "page", "digest")}}));
  add(key("exec", "x"), {key("service", "web")}, Value::dict({}));
  add(key("print", "alone"), {}, Value::dict({}));
  add(key("print", "told"), {},
      Value::dict({{"a", hole("exec", "x", "output")}, {"b", hole("service", "web", "hostname")}}));
  return intent;
}

std::vector<Statement> statements() {
  return {statement("render \"page\"", {key("artifact", "page")}),
          statement("add web", {key("service", "web")}), statement("exec", {key("exec", "x")}),
          statement("alone", {key("print", "alone")}), statement("told", {key("print", "told")})};
}

TEST(InstructionGraph, LeavesOutWhatFollowsFromOthers) {
  const std::vector<std::pair<size_t, size_t>> expected{{0, 1}, {1, 2}, {2, 4}};
  EXPECT_EQ(instruction_graph(example(), statements()), expected);
  EXPECT_TRUE(instruction_graph(Intent(), {}).empty());
}

TEST(InstructionGraph, IsWrittenForGraphvizAndMermaid) {
  EXPECT_EQ(graphviz_graph(example(), statements()), R"(digraph instructions {
  1 [label="1. render \"page\""];
  2 [label="2. add web"];
  3 [label="3. exec"];
  4 [label="4. alone"];
  5 [label="5. told"];
  1 -> 2;
  2 -> 3;
  3 -> 5;
})");
  EXPECT_EQ(mermaid_graph(example(), statements()), R"(flowchart TD
  1["1. render #quot;page#quot;"]
  2["2. add web"]
  3["3. exec"]
  4["4. alone"]
  5["5. told"]
  1 --> 2
  2 --> 3
  3 --> 5)");
}

}  // namespace
}  // namespace fettle
