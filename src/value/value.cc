#include "value/value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <memory>

#include "base/invariant.h"
#include "base/text.h"
#include "value/json.h"
#include "value/python.h"
#include "value/starlark_text.h"

namespace fettle {

/// The shared part of every value that is larger than a word, a text apart (that is a `Name`). Its
/// parts stand behind it in the same piece of memory: there are many small dicts, and a vector would
/// double what one takes.
struct Value::Node {
  std::atomic<uint32_t> users{1};
  uint32_t size = 0;  ///< how many parts follow
  Digest digest;
  uint32_t depth = 0;
  bool deferred = false;
  bool unknown = false;
  bool secret = false;
  TextForm form = TextForm::starlark;  ///< of the texts around holes

  /// List: all of them; secret: the one inside. Dict: an `Entry` each. Deferred: a `Part` each. An
  /// integer beyond 64 bits: a `Name` with its digits.
  template <typename Each>
  Each* parts() {
    static_assert(alignof(Each) <= alignof(Node) && sizeof(Node) % alignof(Each) == 0);
    return reinterpret_cast<Each*>(this + 1);
  }
  template <typename Each>
  std::span<Each> all() {
    return {parts<Each>(), size};
  }

  template <typename Each>
  static Node* make(std::span<Each> parts) {
    INVARIANT(parts.size() <= std::numeric_limits<uint32_t>::max());
    auto* node = new (::operator new(sizeof(Node) + parts.size_bytes())) Node;
    std::uninitialized_move(parts.begin(), parts.end(), node->parts<Each>());
    node->size = static_cast<uint32_t>(parts.size());
    return node;
  }
  template <typename Each>
  void destroy() {
    std::destroy_n(parts<Each>(), size);
    this->~Node();
    ::operator delete(this);
  }

  void contains(const Value& inside) {
    depth = std::max(depth, inside.depth() + 1);
    deferred |= inside.has_deferred();
    unknown |= inside.has_unknown();
    secret |= inside.has_secret();
  }
};

namespace {

const Value null_value;

Digest tagged(Value::Type type, Digest digest) {
  return combine({0x66657474u, static_cast<uint64_t>(type)}, digest);
}

}  // namespace

Value::Value(Name text) : type_(Type::text) {
  word_.node = text.node_;
  text.node_ = nullptr;
}
Value::Value(const Value& other) : type_(other.type_), big_(other.big_), word_(other.word_) {
  keep();
}
Value::Value(Value&& other) noexcept : type_(other.type_), big_(other.big_), word_(other.word_) {
  other.type_ = Type::null;
  other.big_ = false;
}
Value& Value::operator=(Value other) noexcept {
  std::swap(type_, other.type_);
  std::swap(big_, other.big_);
  std::swap(word_, other.word_);
  return *this;
}
Value::~Value() { release(); }

Value::Node* Value::node() const { return static_cast<Node*>(word_.node); }

bool Value::holds_node() const {
  return type_ == Type::list || type_ == Type::dict || type_ == Type::deferred ||
         type_ == Type::secret || big_;
}

void Value::keep() const {
  if (type_ == Type::text) {
    if (word_.node != nullptr)
      static_cast<Name::Node*>(word_.node)->users.fetch_add(1, std::memory_order_relaxed);
  } else if (holds_node()) {
    node()->users.fetch_add(1, std::memory_order_relaxed);
  }
}

void Value::release() {
  if (type_ == Type::text) {
    Name last(static_cast<Name::Node*>(word_.node));
  } else if (holds_node() && node()->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (type_ == Type::dict)
      node()->destroy<Entry>();
    else if (type_ == Type::deferred)
      node()->destroy<Part>();
    else if (type_ == Type::integer)
      node()->destroy<Name>();
    else
      node()->destroy<Value>();
  }
}

Value Value::adopt(Type type, Node* node) {
  Value value;
  value.type_ = type;
  value.word_.node = node;
  return value;
}

Value Value::big_integer(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+'))
    digits.remove_prefix(1);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  const std::string canonical =
      (negative && !digits.empty() ? "-" : "") + std::string(digits.empty() ? "0" : digits);
  int64_t small = 0;
  const auto [end, failure] =
      std::from_chars(canonical.data(), canonical.data() + canonical.size(), small);
  if (failure == std::errc() && end == canonical.data() + canonical.size())
    return small;
  Name kept(canonical);
  const Digest digest = kept.digest();
  Node* const node = Node::make(std::span(&kept, 1));
  node->digest = tagged(Type::integer, digest);
  Value value = adopt(Type::integer, node);
  value.big_ = true;
  return value;
}

Value Value::list(std::vector<Value> items) {
  static const Value& empty = *new Value(made_list({}));  // also used while the process ends
  return items.empty() ? empty : made_list(std::move(items));
}

Value Value::dict(std::vector<Entry> entries) {
  static const Value& empty = *new Value(made_dict({}));
  return entries.empty() ? empty : made_dict(std::move(entries));
}

Value Value::made_list(std::vector<Value> items) {
  Node* const node = Node::make(std::span(items));
  Digest digest{0, items.size()};
  for (const Value& item : node->all<Value>()) {
    node->contains(item);
    digest = combine(digest, item.digest());
  }
  node->depth = std::max(node->depth, 1u);
  node->digest = tagged(Type::list, digest);
  return adopt(Type::list, node);
}

Value Value::made_dict(std::vector<Entry> entries) {
  const auto by_key = [](const Entry& a, const Entry& b) { return a.key.view() < b.key.view(); };
  if (!std::is_sorted(entries.begin(), entries.end(), by_key))
    std::stable_sort(entries.begin(), entries.end(), by_key);
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if (i + 1 == entries.size() || entries[i].key != entries[i + 1].key) {
      if (kept != i)
        entries[kept] = std::move(entries[i]);
      ++kept;
    }
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end());
  Node* const node = Node::make(std::span(entries));
  Digest digest{1, entries.size()};
  for (const Entry& entry : node->all<Entry>()) {
    node->contains(entry.value);
    digest = combine(combine(digest, entry.key.digest()), entry.value.digest());
  }
  node->depth = std::max(node->depth, 1u);
  node->digest = tagged(Type::dict, digest);
  return adopt(Type::dict, node);
}

Value Value::dict(std::initializer_list<Entry> entries) {
  return dict(std::vector<Entry>(entries));
}

Value Value::unknown() {
  Value value;
  value.type_ = Type::unknown;
  return value;
}

Value Value::deferred(std::vector<Part> parts, TextForm form) {
  std::vector<Part> joined;
  for (Part& part : parts) {
    if (!part.is_hole() && part.text.empty())
      continue;
    if (!joined.empty() && !joined.back().is_hole() && !part.is_hole())
      joined.back().text = cat(joined.back().text, part.text);
    else
      joined.push_back(std::move(part));
  }
  if (joined.empty())
    return Value(Name());
  if (joined.size() == 1 && !joined[0].is_hole())
    return Value(joined[0].text);
  Digest digest{2, joined.size()};
  for (const Part& part : joined)
    for (const Name* piece : {&part.text, &part.hole.kind, &part.hole.name, &part.hole.path})
      digest = combine(digest, piece->digest());
  if (joined.size() == 1)
    form = TextForm::starlark;
  if (form == TextForm::python)
    digest = combine(digest, Digest{3, 1});
  Node* const node = Node::make(std::span(joined));
  node->digest = tagged(Type::deferred, digest);
  node->deferred = true;
  node->form = form;
  return adopt(Type::deferred, node);
}

Value Value::secret(Value inside) {
  if (inside.is_secret())
    return inside;
  const Digest digest = inside.digest();
  const uint32_t depth = inside.depth();
  Node* const node = Node::make(std::span(&inside, 1));
  node->contains(*node->parts<Value>());
  node->depth = depth;
  node->secret = true;
  node->digest = tagged(Type::secret, digest);
  return adopt(Type::secret, node);
}

bool Value::boolean() const {
  INVARIANT(type_ == Type::boolean);
  return word_.boolean;
}
std::optional<int64_t> Value::integer() const {
  INVARIANT(type_ == Type::integer);
  return big_ ? std::nullopt : std::optional(word_.integer);
}
std::string Value::integer_digits() const {
  INVARIANT(type_ == Type::integer);
  return big_ ? node()->parts<Name>()->str() : std::to_string(word_.integer);
}
double Value::real() const {
  INVARIANT(type_ == Type::real);
  return word_.real;
}
Name Value::text() const {
  INVARIANT(type_ == Type::text);
  keep();
  return Name(static_cast<Name::Node*>(word_.node));
}
std::span<const Value> Value::items() const {
  INVARIANT(type_ == Type::list);
  return node()->all<Value>();
}
std::span<const Entry> Value::entries() const {
  INVARIANT(type_ == Type::dict);
  return node()->all<Entry>();
}

TextForm Value::text_form() const {
  INVARIANT(type_ == Type::deferred);
  return node()->form;
}

std::span<const Part> Value::parts() const {
  INVARIANT(type_ == Type::deferred);
  return node()->all<Part>();
}
const Value& Value::inside() const {
  INVARIANT(type_ == Type::secret);
  return *node()->parts<Value>();
}

const Value* Value::find(std::string_view key) const {
  if (type_ != Type::dict)
    return nullptr;
  const std::span<const Entry> entries = node()->all<Entry>();
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), key,
                       [](const Entry& entry, std::string_view k) { return entry.key.view() < k; });
  return found != entries.end() && found->key == key ? &found->value : nullptr;
}

const Value& Value::at(std::string_view key) const {
  const Value* found = find(key);
  return found == nullptr ? null_value : *found;
}

std::string_view Value::text_at(std::string_view key, std::string_view otherwise) const {
  const Value* found = find(key);
  if (found == nullptr || !found->is_text())
    return otherwise;
  return found->text().view();  // the dict keeps the text alive
}

int64_t Value::integer_at(std::string_view key, int64_t otherwise) const {
  const Value* found = find(key);
  return found != nullptr && found->is_integer() ? found->integer().value_or(otherwise) : otherwise;
}

bool Value::bool_at(std::string_view key, bool otherwise) const {
  const Value* found = find(key);
  return found != nullptr && found->is_bool() ? found->boolean() : otherwise;
}

bool Value::has_deferred() const { return holds_node() && node()->deferred; }
bool Value::has_unknown() const {
  return type_ == Type::unknown || (holds_node() && node()->unknown);
}
bool Value::has_secret() const { return holds_node() && node()->secret; }
uint32_t Value::depth() const { return holds_node() ? node()->depth : 0; }

Digest Value::digest() const {
  switch (type_) {
    case Type::null:
    case Type::unknown:
      return tagged(type_, {});
    case Type::boolean:
      return tagged(type_, {0, word_.boolean ? 1u : 0u});
    case Type::integer:
      return big_ ? node()->digest : tagged(type_, {0, static_cast<uint64_t>(word_.integer)});
    case Type::real:
      return tagged(type_, {0, std::bit_cast<uint64_t>(word_.real)});
    case Type::text:
      return tagged(type_, word_.node == nullptr ? fingerprint("")
                                                 : static_cast<Name::Node*>(word_.node)->digest);
    default:
      return node()->digest;
  }
}

std::string_view to_string(Value::Type type) {
  constexpr std::array<std::string_view, 10> names{"null", "bool", "integer", "float",    "string",
                                                   "list", "dict", "unknown", "deferred", "secret"};
  return names[static_cast<size_t>(type)];
}

std::string to_text(const Value& value) {
  if (value.is_text())
    return value.text().str();
  return write_json(value);
}

namespace {

void collect_holes(const Value& value, std::vector<Output>& found) {
  if (!value.has_deferred())
    return;
  switch (value.type()) {
    case Value::Type::deferred:
      for (const Part& part : value.parts())
        if (part.is_hole())
          found.push_back(part.hole);
      break;
    case Value::Type::list:
      for (const Value& item : value.items())
        collect_holes(item, found);
      break;
    case Value::Type::dict:
      for (const Entry& entry : value.entries())
        collect_holes(entry.value, found);
      break;
    case Value::Type::secret:
      collect_holes(value.inside(), found);
      break;
    default:
      break;
  }
}

/// The parts with what is known put in; a secret or an unknown makes the whole one.
Value fill_parts(const Value& value, const std::function<const Value*(const Output&)>& fill) {
  const std::span<const Part> parts = value.parts();
  if (parts.size() == 1) {
    const Value* output = fill(parts[0].hole);
    return output == nullptr ? value : *output;
  }
  std::vector<Part> filled;
  bool secret = false;
  for (const Part& part : parts) {
    const Value* output = part.is_hole() ? fill(part.hole) : nullptr;
    if (output == nullptr) {
      filled.push_back(part);
      continue;
    }
    if (output->has_unknown())
      return Value::unknown();
    secret |= output->is_secret();
    const Value& plain = output->is_secret() ? output->inside() : *output;
    filled.emplace_back(
        Name(value.text_form() == TextForm::python ? python::text(plain) : starlark_text(plain)));
  }
  Value text = Value::deferred(std::move(filled), value.text_form());
  return secret ? Value::secret(std::move(text)) : text;
}

}  // namespace

std::vector<Output> holes(const Value& value) {
  std::vector<Output> found;
  collect_holes(value, found);
  return found;
}

Value fill_holes(const Value& value, const std::function<const Value*(const Output&)>& fill) {
  if (!value.has_deferred())
    return value;
  switch (value.type()) {
    case Value::Type::deferred:
      return fill_parts(value, fill);
    case Value::Type::list: {
      std::vector<Value> items;
      for (const Value& item : value.items())
        items.push_back(fill_holes(item, fill));
      return Value::list(std::move(items));
    }
    case Value::Type::dict: {
      std::vector<Entry> entries;
      for (const Entry& entry : value.entries())
        entries.push_back({entry.key, fill_holes(entry.value, fill)});
      return Value::dict(std::move(entries));
    }
    case Value::Type::secret:
      return Value::secret(fill_holes(value.inside(), fill));
    default:
      return value;
  }
}

std::string path_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~' || c == '/')
      step += c == '~' ? "~0" : "~1";
    else
      step += c;
  }
  return step;
}

namespace {

/// One step of a path of RFC 6901, without its `/`.
const Value* step_into(const Value& value, std::string_view step) {
  if (value.is_list()) {
    size_t index = 0;
    const auto [end, failure] = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool is_index = failure == std::errc() && end == step.data() + step.size();
    return is_index && index < value.items().size() ? &value.items()[index] : nullptr;
  }
  if (!value.is_dict())
    return nullptr;
  std::string key;
  for (size_t i = 0; i < step.size(); ++i) {
    const bool is_escaped = step[i] == '~' && i + 1 < step.size();
    key += !is_escaped ? step[i] : step[++i] == '1' ? '/' : '~';
  }
  return value.find(key);
}

}  // namespace

const Value* follow(const Value& value, std::string_view path) {
  if (path.starts_with('/')) {
    const Value* found = &value;
    while (found != nullptr && !path.empty()) {
      const size_t end = std::min(path.find('/', 1), path.size());
      found = step_into(*found, path.substr(1, end - 1));
      path.remove_prefix(end);
    }
    return found;
  }
  if (path.empty())
    return &value;
  if (value.is_list() && path.front() == '[') {
    const size_t close = path.find(']');
    size_t index = 0;
    const auto [end, failure] =
        std::from_chars(path.data() + 1, path.data() + std::min(close, path.size()), index);
    if (close == path.npos || failure != std::errc() || index >= value.items().size())
      return nullptr;
    path.remove_prefix(close + 1);
    return follow(value.items()[index], path.substr(path.starts_with('.') ? 1 : 0));
  }
  if (!value.is_dict())
    return nullptr;
  // A key may itself hold dots (`extract.user.name`), so the longest one is tried first.
  for (size_t end = path.size(); end != path.npos && end > 0;
       end = path.find_last_of(".[", end - 1)) {
    const Value* found = value.find(path.substr(0, end));
    if (found != nullptr)
      return follow(*found,
                    path.substr(std::min(path.size(),
                                         end + (end < path.size() && path[end] == '.' ? 1 : 0))));
  }
  return nullptr;
}

namespace {

void compare_into(const Value& before, const Value& after, const std::string& path, size_t limit,
                  std::vector<std::string>& found) {
  if (before == after || found.size() >= limit)
    return;
  if (before.is_dict() && after.is_dict()) {
    const auto a = before.entries(), b = after.entries();
    const std::string prefix = path.empty() ? "" : path + ".";
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      const bool only_a = j == b.size() || (i < a.size() && a[i].key.view() < b[j].key.view());
      const bool only_b = !only_a && (i == a.size() || b[j].key.view() < a[i].key.view());
      const Name& key = only_b ? b[j].key : a[i].key;
      compare_into(only_b ? null_value : a[i].value, only_a ? null_value : b[j].value,
                   cat(prefix, key), limit, found);
      i += only_b ? 0 : 1;
      j += only_a ? 0 : 1;
    }
  } else if (before.is_list() && after.is_list() && before.items().size() == after.items().size()) {
    for (size_t i = 0; i < before.items().size(); ++i)
      compare_into(before.items()[i], after.items()[i], cat(path, "[", i, "]"), limit, found);
  } else {
    found.push_back(path);
  }
}

}  // namespace

std::vector<std::string> differences(const Value& before, const Value& after, size_t limit) {
  std::vector<std::string> found;
  compare_into(before, after, "", limit, found);
  return found;
}

}  // namespace fettle
