/// Any text as YAML of every schema and as JSON: a tree whose places lie in the text, or an error
/// with one; and what is made of the tree reads back as the same.

#include <algorithm>
#include <cstdint>

#include "base/fuzz/require.h"
#include "value/json_tree.h"
#include "value/yaml_tree.h"

namespace fettle::states {
namespace {

constexpr TreeLimits small{.depth = 60, .nodes = 20'000, .aliased = 20'000};

void check_places(const Tree& tree, uint32_t lines) {
  std::vector<const TreeNode*> open{&tree.root()};
  size_t seen = 0;
  while (!open.empty() && ++seen < 100'000) {
    const TreeNode* node = open.back();
    open.pop_back();
    require(node->place().line <= lines, "the place is inside the text");
    open.insert(open.end(), node->items().begin(), node->items().end());
    for (const TreeMember& entry : node->entries()) {
      require(entry.key->is_text(), "keys are texts");
      require(entry.key->place().line <= lines, "the place of the key is inside the text");
      open.push_back(entry.value);
    }
  }
}

void check_value(const Tree& tree) {
  const Value value = value_of(tree.root());
  const std::string json = write_json(value);
  if (json.find("null") != json.npos)  // JSON has no infinities
    return;
  const Result<Tree> again = read_json_tree(write_json_tree(tree.root()), "");
  require(again && value_of(again->root()) == value, "its JSON gives it back");
}

void check(const Result<std::vector<Tree>>& trees, std::string_view text) {
  const auto lines = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n')) +
                     static_cast<uint32_t>(std::count(text.begin(), text.end(), '\r')) + 8;
  if (!trees) {
    require(!trees.error().message.empty(), "the error has a message");
    require(trees.error().where.line <= static_cast<int>(lines), "the error is inside the text");
    return;
  }
  for (const Tree& tree : *trees) {
    check_places(tree, lines + static_cast<uint32_t>(text.size()));
    check_value(tree);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const YamlSchema schema :
       {YamlSchema::core, YamlSchema::go_yaml_v2, YamlSchema::pyyaml, YamlSchema::idem}) {
    const YamlOptions reading{
        .schema = schema,
        .duplicates = size % 2 == 0 ? Duplicates::error : Duplicates::last_wins,
        .limits = small};
    const Result<std::vector<Tree>> trees = read_yaml_trees(text, "f.yml", reading);
    check(trees, text);
    const Result<std::vector<Tree>> again = read_yaml_trees(text, "f.yml", reading);
    require(again.has_value() == trees.has_value(), "the same again");
  }
  const Result<Tree> tree = read_json_tree(text, "f.json", small);
  const Result<Value> value = read_json(text, "f.json");
  if (tree)
    require(value && value_of(tree->root()) == *value, "both readers of JSON agree");
  return 0;
}

}  // namespace fettle::states
