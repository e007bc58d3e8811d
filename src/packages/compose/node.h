#pragma once
/// A part of a compose project: what a YAML file says, with the place of every part, and free to
/// change. Files are merged part by part, and a message about a part names the file and line that
/// it came from, whichever file that was.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "value/tree.h"

namespace fettle::compose {

struct NodeKey {
  std::string text;
  Place place{};
  Name file{};  ///< empty: that of the mapping
};

/// Where the keys of a wide mapping stand: to merge two of them by comparing every key with every
/// other would take minutes for a file of some megabytes. A copy starts without it and finds it
/// anew.
class KeyPlaces {
 public:
  static constexpr size_t nowhere = SIZE_MAX;

  KeyPlaces() = default;
  KeyPlaces(const KeyPlaces& /*other*/) {}
  KeyPlaces(KeyPlaces&&) noexcept = default;
  KeyPlaces& operator=(const KeyPlaces& /*other*/) {
    places_.reset();
    return *this;
  }
  KeyPlaces& operator=(KeyPlaces&&) noexcept = default;
  ~KeyPlaces() = default;

  size_t find(const std::vector<NodeKey>& keys, std::string_view key) const;
  /// A key was added at the end, which was not there.
  void added(const std::vector<NodeKey>& keys);
  /// Keys were taken out.
  void forget() { places_.reset(); }

 private:
  mutable std::unique_ptr<std::unordered_map<std::string, size_t>> places_;
};

struct Node {
  enum class Type : uint8_t { null, scalar, list, dict };
  /// What happens to the same part of an earlier file: `!reset` removes it, `!override` replaces
  /// it.
  enum class Merge : uint8_t { usual, reset, replace };

  Type type = Type::null;
  Merge merge = Merge::usual;
  Value scalar{};
  std::vector<NodeKey> keys{};  ///< of a dict; the values are `items`
  KeyPlaces places{};           ///< of `keys`
  std::vector<Node> items{};    ///< of a list or a dict
  Name file{};
  Place place{};

  bool is_null() const { return type == Type::null; }
  bool is_scalar() const { return type == Type::scalar; }
  bool is_list() const { return type == Type::list; }
  bool is_dict() const { return type == Type::dict; }
  bool is_text() const { return is_scalar() && scalar.is_text(); }

  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// Puts a value at a key, in place of the one that is there.
  Node& put(NodeKey key, Node value);
  void erase(std::string_view key);
  /// A scalar as a string, as compose would write it: 1.0 is `1`. Empty for anything else.
  std::string text() const;
  Where where() const;
  Where where_of(const NodeKey& key) const;
};

/// A node that stands where `like` does.
Node text_node(std::string text, const Node& like);
Node list_node(const Node& like);
Node dict_node(const Node& like);

Error error_at(const Node& node, std::string message);
/// `a mapping`, `a list`, …, as messages name what was found.
std::string_view kind_of(const Node& node);

/// Whether both say the same, wherever they stand.
bool says_the_same(const Node& one, const Node& other);

/// The documents of a file. Errors: it is not YAML, a key occurs twice, it has too many parts or
/// too deep ones (anchors are written out).
Result<std::vector<Node>> read_nodes(std::string_view text, const std::string& file);

}  // namespace fettle::compose
