#include "packages/instruction_graph.h"

#include <set>

#include "base/text.h"
#include "packages/interpret.h"

namespace fettle {
namespace {

using Edges = std::set<std::pair<size_t, size_t>>;

/// The first statement that speaks of each key.
std::map<Key, size_t> makers(std::span<const Statement> statements) {
  std::map<Key, size_t> made_by;
  for (size_t i = 0; i < statements.size(); ++i)
    for (const Key& key : statements[i].keys)
      made_by.emplace(key, i);
  return made_by;
}

Edges all_edges(const Intent& intent, std::span<const Statement> statements) {
  const std::map<Key, size_t> made_by = makers(statements);
  Edges edges;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources) {
      const auto user = made_by.find(resource.key);
      if (user == made_by.end())
        continue;
      const auto connect = [&](const Key& need) {
        if (const auto maker = made_by.find(need);
            maker != made_by.end() && maker->second != user->second)
          edges.emplace(maker->second, user->second);
      };
      for (const Need& need : resource.needs)
        for (const Key& key : need.keys)
          connect(key);
      for (const Output& hole : holes(resource.attributes))
        connect({resource.key.environment, hole.kind, hole.name});
    }
  return edges;
}

std::string name_of(const Statement& statement, size_t i) {
  return cat(i + 1, ". ", description_of(statement));
}

}  // namespace

std::vector<std::pair<size_t, size_t>> instruction_graph(const Intent& intent,
                                                         std::span<const Statement> statements) {
  const Edges edges = all_edges(intent, statements);
  // Statements come in an order in which needs come first, so one pass backwards sees all.
  const size_t count = statements.size();
  std::vector<std::set<size_t>> reached(count);
  std::vector<std::vector<size_t>> needs(count);
  for (const auto& [maker, user] : edges)
    if (maker < user)
      needs[user].push_back(maker);
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t user = 0; user < count; ++user) {
    std::sort(needs[user].rbegin(), needs[user].rend());
    for (const size_t maker : needs[user]) {
      if (reached[user].contains(maker))
        continue;
      found.emplace_back(maker, user);
      reached[user].insert(maker);
      reached[user].insert(reached[maker].begin(), reached[maker].end());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string graphviz_graph(const Intent& intent, std::span<const Statement> statements) {
  std::string text = "digraph instructions {\n";
  for (size_t i = 0; i < statements.size(); ++i)
    text += cat("  ", i + 1, " [label=\"",
                replace_all(replace_all(name_of(statements[i], i), "\\", "\\\\"), "\"", "\\\""),
                "\"];\n");
  for (const auto& [maker, user] : instruction_graph(intent, statements))
    text += cat("  ", maker + 1, " -> ", user + 1, ";\n");
  return text + "}";
}

std::string mermaid_graph(const Intent& intent, std::span<const Statement> statements) {
  std::string text = "flowchart TD";
  for (size_t i = 0; i < statements.size(); ++i)
    text +=
        cat("\n  ", i + 1, "[\"", replace_all(name_of(statements[i], i), "\"", "#quot;"), "\"]");
  for (const auto& [maker, user] : instruction_graph(intent, statements))
    text += cat("\n  ", maker + 1, " --> ", user + 1);
  return text;
}

}  // namespace fettle
