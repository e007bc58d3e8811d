#include "value/tree.h"

#include <deque>
#include <memory_resource>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/text.h"
#include "value/tree_fold.h"

namespace fettle {

std::span<const TreeNode* const> TreeNode::items() const {
  return type_ == Type::list ? std::span(items_, count_) : std::span<const TreeNode* const>();
}

std::span<const TreeMember> TreeNode::entries() const {
  return type_ == Type::dict ? std::span(entries_, count_) : std::span<const TreeMember>();
}

const TreeNode* TreeNode::find(std::string_view key) const {
  for (const TreeMember& entry : entries())
    if (entry.key->text() == key)
      return entry.value;
  return nullptr;
}

struct Tree::Store {
  std::deque<TreeNode> nodes;
  std::pmr::monotonic_buffer_resource spans;

  template <typename Item>
  std::span<const Item> keep(std::span<const Item> items) {
    if (items.empty())
      return {};
    void* room = spans.allocate(items.size_bytes(), alignof(Item));
    Item* copy = static_cast<Item*>(room);
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }
};

Tree::Tree() {
  static const TreeNode nothing{Value(), Place{}};
  root_ = &nothing;
}

/// The entries of one dict while they are put together. Few are compared one by one, many are
/// looked up.
struct TreeBuilder::Entries {
  static constexpr size_t few = 12;
  std::vector<TreeMember> found;
  std::vector<bool> is_own;  ///< of each, that it did not come by a merge
  boost::unordered_flat_map<Name, size_t, NameHash> places;

  void clear() {
    found.clear();
    is_own.clear();
    places.clear();
  }

  /// The place of the key in `found`; behind the last one if it is not there.
  size_t find(const Name& key) {
    if (found.size() <= few) {
      size_t i = 0;
      while (i < found.size() && found[i].key->text() != key)
        ++i;
      return i;
    }
    for (size_t i = places.size(); i < found.size(); ++i)
      places.emplace(found[i].key->text(), i);
    const auto place = places.find(key);
    return place == places.end() ? found.size() : place->second;
  }
};

namespace {

Error error_at(Place place, std::string why) {
  return user_error(std::move(why),
                    {"", static_cast<int>(place.line), static_cast<int>(place.column)});
}

}  // namespace

TreeBuilder::TreeBuilder(Rules rules)
    : rules_(rules),
      store_(std::make_shared<Tree::Store>()),
      entries_(std::make_unique<Entries>()) {}

TreeBuilder::~TreeBuilder() = default;

Result<TreeNode*> TreeBuilder::made(TreeNode node) {
  if (store_->nodes.size() >= rules_.limits.nodes)
    return error_at(node.place(), cat("more than ", rules_.limits.nodes, " values"));
  return &store_->nodes.emplace_back(std::move(node));
}

Status TreeBuilder::put(TreeNode* node, size_t size) {
  parts_.push_back(node);
  if (!frames_.empty())
    frames_.back().size += size;
  return {};
}

Status TreeBuilder::scalar(Value value, Place place, std::string_view anchor, bool merges) {
  TreeNode* const node = TRY(made({std::move(value), place}));
  node->merges_ = merges;
  if (!anchor.empty())
    anchors_.insert_or_assign(std::string(anchor), Anchor{node, 1});
  return put(node, 1);
}

Status TreeBuilder::open(TreeNode::Type type, Place place, std::string_view anchor) {
  if (frames_.size() >= rules_.limits.depth)
    return error_at(place, cat("nested deeper than ", rules_.limits.depth));
  // From here on, it names a part that is not complete yet.
  if (!anchor.empty())
    anchors_.erase(std::string(anchor));
  frames_.push_back({type, place, parts_.size(), 1, std::string(anchor)});
  return {};
}

bool TreeBuilder::expects_key() const {
  return !frames_.empty() && frames_.back().type == TreeNode::Type::dict &&
         (parts_.size() - frames_.back().begin) % 2 == 0;
}

Status TreeBuilder::close() {
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  TreeNode* node = nullptr;
  if (frame.type == TreeNode::Type::list) {
    const std::span<const TreeNode* const> items(parts_.data() + frame.begin,
                                                 parts_.size() - frame.begin);
    node = TRY(made({store_->keep(items), frame.place}));
  } else {
    entries_->clear();
    TRY(add_entries(frame));
    const std::span<const TreeMember> entries = entries_->found;
    node = TRY(made({store_->keep(entries), frame.place}));
  }
  parts_.resize(frame.begin);
  // An anchor inside that has its name was written later, and stays what the name means.
  if (!frame.anchor.empty())
    anchors_.try_emplace(frame.anchor, Anchor{node, frame.size});
  return put(node, frame.size);
}

/// Unless the rules say otherwise, what `<<` brings comes first, so that the mapping's own entries
/// win.
Status TreeBuilder::add_entries(const Frame& frame) {
  const size_t end = parts_.size();
  for (size_t i = frame.begin; i < end && !rules_.merges_in_place; i += 2)
    if (parts_[i]->merges_)
      TRY(merge(*parts_[i + 1]));
  for (size_t i = frame.begin; i < end; i += 2)
    if (!parts_[i]->merges_)
      TRY(add_entry(TRY(key_of(parts_[i])), parts_[i + 1], false));
    else if (rules_.merges_in_place)
      TRY(merge(*parts_[i + 1]));
  return {};
}

Status TreeBuilder::merge(const TreeNode& from) {
  const auto add = [&](const TreeNode& node) -> Status {
    if (!node.is_dict())
      return error_at(node.place(), "`<<` needs a mapping or a list of mappings");
    for (const TreeMember& entry : node.entries())
      TRY(add_entry(entry.key, entry.value, true));
    return {};
  };
  if (!from.is_list())
    return add(from);
  for (size_t i = from.items().size(); i-- > 0;)  // of several mappings the first counts
    TRY(add(*from.items()[i]));
  return {};
}

Status TreeBuilder::add_entry(const TreeNode* key, const TreeNode* value, bool is_merged) {
  const size_t i = entries_->find(key->text());
  if (i == entries_->found.size()) {
    entries_->found.push_back({key, value});
    entries_->is_own.push_back(!is_merged);
    return {};
  }
  if (!is_merged && entries_->is_own[i] && rules_.duplicates == Duplicates::error)
    return error_at(key->place(), cat("the key `", key->text(), "` occurs twice"));
  // `1` and `"1"` are two keys until they are texts: nothing that is merged overrides an own one.
  if (is_merged && entries_->is_own[i] && entries_->found[i].key->written_ != key->written_)
    return {};
  entries_->found[i] = {key, value};
  entries_->is_own[i] = !is_merged;
  return {};
}

Result<const TreeNode*> TreeBuilder::key_of(const TreeNode* node) {
  if (!node->is_scalar())
    return error_at(node->place(), "a key must be a string or a number");
  if (node->is_text())
    return node;
  Result<Name> name = rules_.key ? rules_.key(node->scalar()) : Name(to_text(node->scalar()));
  if (!name)
    return error_at(node->place(), name.error().message);
  TreeNode* const key = TRY(made({Value(*name), node->place()}));
  key->written_ = node->scalar().type();
  return key;
}

Status TreeBuilder::alias(std::string_view anchor, Place place) {
  const auto found = anchors_.find(std::string(anchor));
  if (found == anchors_.end())
    return error_at(place, cat("the anchor `", anchor, "` is not known here"));
  aliased_ += found->second.size;
  if (aliased_ > rules_.limits.aliased)
    return error_at(place, "its aliases expand to too much");
  const bool is_merged = !frames_.empty() && frames_.back().type == TreeNode::Type::dict &&
                         !expects_key() && parts_.back()->merges_;
  if (is_merged && rules_.merges_in_place && !found->second.node->is_dict())
    return error_at(place, "`<<` needs a mapping, or a literal list of mappings");
  found->second.node->is_shared_ = true;
  return put(found->second.node, found->second.size);
}

Tree TreeBuilder::take() {
  anchors_.clear();
  if (parts_.empty())
    return Tree();
  const TreeNode* const root = parts_.front();
  parts_.clear();
  return Tree(store_, root);
}

Value TreeValues::of(const TreeNode& node) {
  ValueMaker maker;
  return fold_tree(node, maker, shared_);
}

Value value_of(const TreeNode& node) { return TreeValues().of(node); }

}  // namespace fettle
