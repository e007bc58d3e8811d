#pragma once
/// A text as it was written, with what `Value` forgets: the order of keys, the place of every key
/// and value, and which parts are one and the same because an alias names them. A shared part is
/// there once, however often it is named.
///
///   const Tree tree = TRY(read_yaml_tree(text, "web.sls", {YamlSchema::pyyaml}));
///   for (const TreeMember& entry : tree.root().entries())
///     use(entry.key->text(), value_of(*entry.value));
///
/// To read another format: a reader that tells a `TreeBuilder` what it finds (`yaml_tree.cc`,
/// `json_tree.cc`).

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "value/json.h"
#include "value/value.h"

namespace fettle {

class TreeNode;

/// A place in the text. Lines and columns count from 1, columns count code points; 0: unknown.
struct Place {
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const Place&) const = default;
};

struct TreeMember {
  const TreeNode* key = nullptr;  ///< a text
  const TreeNode* value = nullptr;
};

class TreeNode {
 public:
  enum class Type : uint8_t { scalar, list, dict };

  TreeNode(Value scalar, Place place) : scalar_(std::move(scalar)), place_(place) {}
  TreeNode(std::span<const TreeNode* const> items, Place place)
      : items_(items.data()),
        count_(static_cast<uint32_t>(items.size())),
        type_(Type::list),
        place_(place) {}
  TreeNode(std::span<const TreeMember> entries, Place place)
      : entries_(entries.data()),
        count_(static_cast<uint32_t>(entries.size())),
        type_(Type::dict),
        place_(place) {}

  Type type() const { return type_; }
  bool is_scalar() const { return type_ == Type::scalar; }
  bool is_list() const { return type_ == Type::list; }
  bool is_dict() const { return type_ == Type::dict; }
  bool is_text() const { return scalar_.is_text(); }
  bool is_null() const { return is_scalar() && scalar_.is_null(); }
  const Value& scalar() const { return scalar_; }    ///< null of a list or dict
  Name text() const { return scalar_.text(); }       ///< of a text
  std::span<const TreeNode* const> items() const;    ///< of a list
  std::span<const TreeMember> entries() const;       ///< of a dict
  const TreeNode* find(std::string_view key) const;  ///< the value at a key of a dict, or none
  Place place() const { return place_; }
  /// For a key: its type before it became a text, as in `1: x`.
  Value::Type written() const { return written_; }
  /// Whether an alias names it, so that one may meet it again elsewhere.
  bool is_shared() const { return is_shared_; }

 private:
  friend class TreeBuilder;
  Value scalar_;
  union {
    const TreeNode* const* items_ = nullptr;
    const TreeMember* entries_;
  };
  uint32_t count_ = 0;
  Type type_ = Type::scalar;
  Value::Type written_ = Value::Type::text;
  bool is_shared_ = false;
  bool merges_ = false;  ///< a key `<<`
  Place place_;
};

/// Owns its nodes; a copy shares them.
class Tree {
 public:
  Tree();  ///< of an empty text: null
  const TreeNode& root() const { return *root_; }

 private:
  friend class TreeBuilder;
  struct Store;
  Tree(std::shared_ptr<const Store> store, const TreeNode* root)
      : store_(std::move(store)), root_(root) {}
  std::shared_ptr<const Store> store_;
  const TreeNode* root_;
};

struct TreeLimits {
  uint32_t depth = 500;
  size_t nodes = 8'000'000;
  /// The most that all aliases together may stand for; a bomb of nested aliases needs far more.
  size_t aliased = 4'000'000;
};

/// Takes what a reader finds, in the order of the text. Errors have no file: the reader adds it.
class TreeBuilder {
 public:
  struct Rules {
    Duplicates duplicates = Duplicates::error;
    TreeLimits limits{};
    /// `<<` counts where it stands, and overrides what stands before it; else all own keys
    /// override.
    bool merges_in_place = false;
    /// The name of a scalar that is no text; null: the text of `to_text`.
    Result<Name> (*key)(const Value& scalar) = nullptr;
  };
  explicit TreeBuilder(Rules rules);
  ~TreeBuilder();

  /// `anchor`: what aliases call it; empty: nothing. `merges`: as a key it is `<<`.
  Status scalar(Value value, Place place, std::string_view anchor = {}, bool merges = false);
  Status open(TreeNode::Type type, Place place, std::string_view anchor = {});
  Status close();
  Status alias(std::string_view anchor, Place place);
  /// How many keys and values the innermost open list or dict has; 0: nothing is open.
  bool expects_key() const;
  size_t depth() const { return frames_.size(); }
  /// The document that is complete, null when there was none. Anchors are forgotten.
  Tree take();

 private:
  struct Frame {
    TreeNode::Type type;
    Place place;
    size_t begin;     ///< of its parts in `parts_`
    size_t size = 1;  ///< how many nodes it stands for when aliases are written out
    std::string anchor;
  };
  struct Anchor {
    TreeNode* node;
    size_t size;
  };

  Status put(TreeNode* node, size_t size);
  Result<TreeNode*> made(TreeNode node);
  Status add_entries(const Frame& frame);
  Status add_entry(const TreeNode* key, const TreeNode* value, bool is_merged);
  Status merge(const TreeNode& from);
  Result<const TreeNode*> key_of(const TreeNode* node);

  Rules rules_;
  std::shared_ptr<Tree::Store> store_;
  std::vector<Frame> frames_;
  std::vector<TreeNode*> parts_;
  std::unordered_map<std::string, Anchor> anchors_;
  size_t aliased_ = 0;
  struct Entries;
  std::unique_ptr<Entries> entries_;  ///< of the dict that is being closed
};

/// Converts parts of one tree; what aliases share is shared in the values, too.
class TreeValues {
 public:
  Value of(const TreeNode& node);

 private:
  std::unordered_map<const TreeNode*, Value> shared_;
};

/// The value of one part, or of a whole tree.
Value value_of(const TreeNode& node);

}  // namespace fettle
