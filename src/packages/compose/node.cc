#include "packages/compose/node.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/text.h"
#include "value/yaml_tree.h"

namespace fettle::compose {
namespace {

/// Largest files of the world have some thousands of parts.
constexpr TreeLimits limits{.depth = 100, .nodes = 500'000, .aliased = 200'000};

/// The places of the tags that compose adds to YAML.
using Tags = std::map<std::pair<uint32_t, uint32_t>, Node::Merge>;

Node node_of(const TreeNode& from, const Name& file, const Tags& tags) {
  Node node;
  node.file = file;
  node.place = from.place();
  if (const auto tag = tags.find({node.place.line, node.place.column}); tag != tags.end())
    node.merge = tag->second;
  if (from.is_list()) {
    node.type = Node::Type::list;
    for (const TreeNode* const item : from.items())
      node.items.push_back(node_of(*item, file, tags));
  } else if (from.is_dict()) {
    node.type = Node::Type::dict;
    for (const TreeMember& member : from.entries()) {
      node.keys.push_back({member.key->text().str(), member.key->place(), file});
      node.items.push_back(node_of(*member.value, file, tags));
    }
  } else if (!from.is_null()) {
    node.type = Node::Type::scalar;
    node.scalar = from.scalar();
  }
  return node;
}

/// As Go writes a number.
std::string text_of_real(double number) {
  if (std::isfinite(number) && number == std::floor(number) && std::fabs(number) < 1e21) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed);
    return {digits.data(), end.ptr};
  }
  return to_text(Value(number));
}

}  // namespace

size_t KeyPlaces::find(const std::vector<NodeKey>& keys, std::string_view key) const {
  constexpr size_t narrow = 32;
  if (keys.size() <= narrow) {
    const auto found = std::ranges::find(keys, key, &NodeKey::text);
    return found == keys.end() ? nowhere : static_cast<size_t>(found - keys.begin());
  }
  if (!places_ || places_->size() != keys.size()) {
    places_ = std::make_unique<std::unordered_map<std::string, size_t>>();
    for (size_t i = 0; i < keys.size(); ++i)
      places_->emplace(keys[i].text, i);
  }
  const auto found = places_->find(std::string(key));
  return found == places_->end() ? nowhere : found->second;
}

void KeyPlaces::added(const std::vector<NodeKey>& keys) {
  if (places_)
    places_->emplace(keys.back().text, keys.size() - 1);
}

const Node* Node::find(std::string_view key) const {
  const size_t place = places.find(keys, key);
  return place == KeyPlaces::nowhere ? nullptr : &items[place];
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

Node& Node::put(NodeKey key, Node value) {
  if (Node* const there = find(key.text)) {
    *there = std::move(value);
    return *there;
  }
  keys.push_back(std::move(key));
  places.added(keys);
  return items.emplace_back(std::move(value));
}

void Node::erase(std::string_view key) {
  const size_t place = places.find(keys, key);
  if (place == KeyPlaces::nowhere)
    return;
  keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(place));
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  places.forget();
}

std::string Node::text() const {
  if (!is_scalar())
    return {};
  return scalar.is_real() ? text_of_real(scalar.real()) : to_text(scalar);
}

Where Node::where() const {
  return {file.str(), static_cast<int>(place.line), static_cast<int>(place.column)};
}

Where Node::where_of(const NodeKey& key) const {
  return {(key.file.empty() ? file : key.file).str(), static_cast<int>(key.place.line),
          static_cast<int>(key.place.column)};
}

Node text_node(std::string text, const Node& like) {
  Node node;
  node.type = Node::Type::scalar;
  node.scalar = Value(std::move(text));
  node.file = like.file;
  node.place = like.place;
  return node;
}

namespace {

Node empty_node(Node::Type type, const Node& like) {
  Node node;
  node.type = type;
  node.merge = like.merge;
  node.file = like.file;
  node.place = like.place;
  return node;
}

}  // namespace

Node list_node(const Node& like) { return empty_node(Node::Type::list, like); }
Node dict_node(const Node& like) { return empty_node(Node::Type::dict, like); }

Error error_at(const Node& node, std::string message) {
  return user_error(std::move(message), node.where());
}

std::string_view kind_of(const Node& node) {
  switch (node.type) {
    case Node::Type::null:
      return "nothing";
    case Node::Type::list:
      return "a list";
    case Node::Type::dict:
      return "a mapping";
    case Node::Type::scalar:
      break;
  }
  return node.is_text() ? "a text" : node.scalar.is_bool() ? "true or false" : "a number";
}

bool says_the_same(const Node& one, const Node& other) {
  if (one.type != other.type || !(one.scalar == other.scalar) ||
      one.items.size() != other.items.size())
    return false;
  for (size_t i = 0; i < one.items.size(); ++i) {
    const Node* const there = one.is_dict() ? other.find(one.keys[i].text) : &other.items[i];
    if (there == nullptr || !says_the_same(one.items[i], *there))
      return false;
  }
  return true;
}

Result<std::vector<Node>> read_nodes(std::string_view text, const std::string& file) {
  Tags tags;
  YamlOptions reading{
      .schema = YamlSchema::core, .duplicates = Duplicates::error, .limits = limits};
  reading.on_tag = [&](std::string_view tag, Place place) {
    if (tag == "!reset")
      tags[{place.line, place.column}] = Node::Merge::reset;
    if (tag == "!override")
      tags[{place.line, place.column}] = Node::Merge::replace;
  };
  std::vector<Node> nodes;
  const Name name(file);
  for (const Tree& tree : TRY(read_yaml_trees(text, file, reading)))
    nodes.push_back(node_of(tree.root(), name, tags));
  return nodes;
}

}  // namespace fettle::compose
