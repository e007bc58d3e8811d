#include "template/jinja/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "base/text.h"
#include "value/python.h"
#include "value/whole.h"

namespace fettle::jinja {
namespace {

/// Equal keys share this.
std::string key_of(const Value& key) {
  if (key.is_text())
    return "s" + key.text();
  if (key.is_whole())
    return "n" + std::to_string(key.integer());
  if (key.is_real() && key.real() == std::floor(key.real()) && std::fabs(key.real()) < 9e15)
    return "n" + std::to_string(static_cast<int64_t>(key.real()));
  return type_name(key) + (key.is_object() ? key.object()->key() : quoted(key));
}

/// An integer beyond 64 bits.
class LargeInteger : public Object {
 public:
  explicit LargeInteger(std::string digits_) : digits(std::move(digits_)) {}
  std::string type_name() const override { return "int"; }
  std::string text() const override { return digits; }
  bool equals(const Object& other) const override {
    const auto* const large = dynamic_cast<const LargeInteger*>(&other);
    return large != nullptr && large->digits == digits;
  }
  const std::string digits;
};

bool is_large(const Value& value) {
  return value.is_object() && dynamic_cast<const LargeInteger*>(value.object().get()) != nullptr;
}

/// The order of two numbers of which one is a large integer; nothing when they are no numbers.
std::optional<std::partial_ordering> order_of_large(const Value& a, const Value& b) {
  const std::optional<std::string> left = digits_of(a);
  const std::optional<std::string> right = digits_of(b);
  if (left && right)
    return whole::compare(*left, *right);
  if (left && b.is_real())
    return whole::compare(*left, b.real());
  if (right && a.is_real())
    return 0 <=> whole::compare(*right, a.real());
  return std::nullopt;
}

/// Counts how deep objects are nested on this thread: their texts call one another.
class ObjectLevel {
 public:
  ObjectLevel() : is_shown(++depth_ <= deepest) {}
  ~ObjectLevel() { --depth_; }
  ObjectLevel(const ObjectLevel&) = delete;
  ObjectLevel& operator=(const ObjectLevel&) = delete;
  const bool is_shown;

 private:
  static constexpr int deepest = 60;
  static thread_local int depth_;
};

thread_local int ObjectLevel::depth_ = 0;

/// A list or dict that is being written.
struct OpenText {
  const Value* value;
  const void* identity;
  size_t next = 0;
};

/// Writes values with a stack of our own.
class Writer {
 public:
  explicit Writer(std::string& made) : made_(made) {}

  void run(const Value& value, bool is_quoted) {
    one(value, is_quoted);
    while (!open_.empty()) {
      if (!budget_.spend(cost::value) || !budget_.has_room(made_.size()))
        return;
      part();
    }
  }

 private:
  static const void* identity(const Value& value) {
    return value.is_list() ? static_cast<const void*>(&value.list())
                           : static_cast<const void*>(&value.dict_data());
  }
  bool is_open(const void* identity) const {
    const size_t outer = std::min(open_.size(), few);
    return std::any_of(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(outer),
                       [&](const OpenText& open) { return open.identity == identity; }) ||
           (open_.size() > few && path_.contains(identity));
  }
  void open(const Value& value) {
    budget_.spend(cost::open);
    const std::string_view brackets = brackets_of(value);
    const void* const what = identity(value);
    made_ += brackets[0];
    if (is_open(what)) {
      made_ += cat("...", brackets.substr(1));
      return;
    }
    if (open_.size() >= few)
      path_.insert(what);
    open_.push_back({&value, what});
  }
  static std::string_view brackets_of(const Value& value) {
    return value.is_dict() ? "{}" : value.list().is_tuple ? "()" : "[]";
  }
  void close() {
    const Value& value = *open_.back().value;
    if (value.is_list() && value.list().is_tuple && value.list().items.size() == 1)
      made_ += ',';
    made_ += brackets_of(value)[1];
    if (open_.size() > few)
      path_.erase(open_.back().identity);
    open_.pop_back();
  }

  /// The next item of the innermost, or its key or value.
  void part() {
    OpenText& at = open_.back();
    if (at.value->is_list()) {
      const Items& items = at.value->list().items;
      if (at.next == items.size())
        return close();
      made_ += at.next == 0 ? "" : ", ";
      return one(items[at.next++], true);
    }
    const auto& entries = at.value->dict_data().entries;
    if (at.next == 2 * entries.size())
      return close();
    const size_t next = at.next++;
    made_ += next == 0 ? "" : next % 2 == 0 ? ", " : ": ";
    one(next % 2 == 0 ? entries[next / 2].first : entries[next / 2].second, true);
  }

  bool is_in_null_writer() const {
    if (open_.empty())
      return false;
    const Value& around = *open_.back().value;
    return around.is_list() ? around.list().writes_null : around.dict_data().writes_null;
  }

  void one(const Value& value, bool is_quoted) {
    if (value.is_list() || value.is_dict()) {
      open(value);
    } else if (value.is_text()) {
      budget_.spend(value.text().size() / 16);
      made_ += is_quoted ? python::quoted(value.text()) : value.text();
    } else if (value.is_none()) {
      made_ += is_in_null_writer() ? "null" : "None";
    } else if (value.is_bool()) {
      made_ += value.boolean() ? "True" : "False";
    } else if (value.is_integer()) {
      made_ += std::to_string(value.integer());
    } else if (value.is_real()) {
      made_ += python::real_text(value.real());
    } else if (value.is_object()) {
      const ObjectLevel level;
      made_ += level.is_shown ? value.object()->text() : "...";
    } else if (is_quoted || !value.is_lenient()) {
      made_ += "Undefined";
    }
  }

  std::string& made_;
  Budget& budget_ = Budget::current();
  static constexpr size_t few = 48;
  std::vector<OpenText> open_;
  std::unordered_set<const void*> path_;  ///< of the open ones behind the first few
};

/// Compares values with a stack of our own.
class Comparer {
 public:
  bool run(const Value& a, const Value& b) {
    bool is_equal = one(a, b);
    while (is_equal && !open_.empty()) {
      if (!budget_.spend(cost::value))
        return false;
      is_equal = part();
    }
    return is_equal;
  }

 private:
  struct Pair {
    const Value* a;
    const Value* b;
    size_t next = 0;
  };

  bool one(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number())
      return a.is_real() || b.is_real() ? a.real() == b.real() : a.integer() == b.integer();
    if (a.is_text() && b.is_text()) {
      budget_.spend(std::min(a.text().size(), b.text().size()) / 64);
      return a.text() == b.text();
    }
    if (a.is_same(b))  // as in Python without a look inside
      return true;
    if (a.is_object() || b.is_object())
      return objects(a, b);
    const bool are_lists = a.is_list() && b.is_list() && a.list().is_tuple == b.list().is_tuple;
    if (!are_lists && !(a.is_dict() && b.is_dict()))
      return a.is_undefined() && b.is_undefined();
    if (are_lists ? a.list().items.size() != b.list().items.size()
                  : a.dict_data().entries.size() != b.dict_data().entries.size())
      return false;
    open_.push_back({&a, &b});
    return true;
  }

  static bool objects(const Value& a, const Value& b) {
    for (const Value* one : {&a, &b})  // what may not be looked at notes that it was
      if (one->is_object() && !one->object()->readable())
        return false;
    if (is_large(a) || is_large(b)) {
      const auto order = order_of_large(a, b);
      return order && *order == 0;
    }
    return a.is_object() && b.is_object() && a.object()->equals(*b.object());
  }

  bool part() {
    Pair& at = open_.back();
    if (at.a->is_list()) {
      const Items& items = at.a->list().items;
      if (at.next == items.size())
        return open_.pop_back(), true;
      const size_t next = at.next++;
      return one(items[next], at.b->list().items[next]);
    }
    const auto& entries = at.a->dict_data().entries;
    if (at.next == entries.size())
      return open_.pop_back(), true;
    const auto& [key, value] = entries[at.next++];
    const Value* const other = at.b->dict_data().find(key);
    return other != nullptr && one(value, *other);
  }

  Budget& budget_ = Budget::current();
  std::vector<Pair> open_;
};

}  // namespace

/// The order of two lists is that of their first items that differ.
Result<bool> is_less(const Value& first, const Value& second, std::string_view asked) {
  const Value* a = &first;
  const Value* b = &second;
  while (a->is_list() && b->is_list() && a->list().is_tuple == b->list().is_tuple) {
    const Items& left = a->list().items;
    const Items& right = b->list().items;
    size_t i = 0;
    while (i < left.size() && i < right.size() && is_equal(left[i], right[i]))
      ++i;
    if (!Budget::current().spend(1))
      return false;
    if (i == left.size() || i == right.size())
      return left.size() < right.size();
    a = &left[i];
    b = &right[i];
  }
  if (a->is_number() && b->is_number())
    return a->is_real() || b->is_real() ? a->real() < b->real() : a->integer() < b->integer();
  if (a->is_text() && b->is_text())
    return a->text() < b->text();
  if (is_large(*a) || is_large(*b))
    if (const auto order = order_of_large(*a, *b))
      return *order < 0;
  if (a->is_undefined())
    return undefined_error(*a);
  if (b->is_undefined())
    return undefined_error(*b);
  const bool is_swapped = asked == ">" || asked == "<=";
  return raise("TypeError", cat("'", asked, "' not supported between instances of '",
                                type_name(is_swapped ? *b : *a), "' and '",
                                type_name(is_swapped ? *a : *b), "'"));
}

Result<std::optional<Value>> Object::item(const Value&) { return std::optional<Value>(); }

Result<std::optional<Value>> Object::attribute(std::string_view) { return std::optional<Value>(); }
Result<Value> Object::call(Arguments&) {
  return raise("TypeError", cat("'", type_name(), "' object is not callable"));
}
Result<std::optional<Items>> Object::items() { return std::optional<Items>(); }

void drop(Items values) {
  thread_local Items* waiting = nullptr;
  if (waiting != nullptr) {
    std::move(values.begin(), values.end(), std::back_inserter(*waiting));
    return;
  }
  waiting = &values;
  while (!values.empty()) {
    const Value last = std::move(values.back());
    values.pop_back();
  }
  waiting = nullptr;
}

CountedText::CountedText(std::string text, bool is_mark_)
    : std::string(std::move(text)),
      is_mark(is_mark_),
      budget_(Budget::current()),
      bytes_(capacity() + 64) {
  budget_.take(bytes_);
}

void List::count() {
  const uint64_t now = items.capacity() * sizeof(Value) + 64;
  if (now > bytes_)
    budget_.take(now - bytes_);
  else
    budget_.give_back(bytes_ - now);
  bytes_ = now;
}

List::~List() {
  budget_.give_back(bytes_);
  if (std::any_of(items.begin(), items.end(), [](const Value& item) { return item.can_nest(); }))
    drop(std::move(items));
}

Dict::~Dict() {
  budget_.give_back(bytes_);
  Items values;
  for (auto& [key, value] : entries)
    if (value.can_nest())
      values.push_back(std::move(value));
  if (!values.empty())
    drop(std::move(values));
}

void Circles::add(const Value& value) {
  if (value.is_list() && !std::exchange(value.list().is_known, true))
    lists_.push_back(std::get<std::shared_ptr<List>>(value.data_));
  if (value.is_dict() && !std::exchange(value.dict_data().is_known, true))
    dicts_.push_back(std::get<std::shared_ptr<Dict>>(value.data_));
}

void Circles::add_all(const Value& value) {
  Items open{value};
  while (!open.empty()) {
    const Value here = std::move(open.back());
    open.pop_back();
    if (here.is_list() && !here.list().is_known)
      open.insert(open.end(), here.list().items.begin(), here.list().items.end());
    if (here.is_dict() && !here.dict_data().is_known)
      for (const auto& [key, item] : here.dict_data().entries)
        open.push_back(item);
    add(here);
  }
}

void Circles::release() {
  for (const std::weak_ptr<List>& weak : lists_)
    if (const std::shared_ptr<List> list = weak.lock())
      const Items dropped = std::exchange(list->items, {});
  for (const std::weak_ptr<Dict>& weak : dicts_)
    if (const std::shared_ptr<Dict> dict = weak.lock()) {
      dict->index.clear();
      const auto dropped = std::exchange(dict->entries, {});
    }
}

Value Value::list(Items items) { return std::make_shared<List>(std::move(items)); }
Value Value::tuple(Items items) { return std::make_shared<List>(std::move(items), true); }
Value Value::dict() { return std::make_shared<Dict>(); }
Value Value::undefined(std::string message, bool is_lenient) {
  Value made;
  made.data_ = std::make_shared<Undefined>(Undefined{std::move(message), is_lenient});
  return made;
}

Value Value::of(const fettle::Value& value) {
  using Type = fettle::Value::Type;
  switch (value.type()) {
    case Type::null:
      return {};
    case Type::boolean:
      return value.boolean();
    case Type::integer:
      return value.integer() ? Value(*value.integer()) : Value(value.integer_digits());
    case Type::real:
      return value.real();
    case Type::list: {
      Items items;
      for (const fettle::Value& item : value.items())
        items.push_back(of(item));
      return list(std::move(items));
    }
    case Type::dict: {
      Value made = dict();
      for (const Entry& entry : value.entries())
        made.dict_data().set(Value(entry.key.view()), of(entry.value));
      return made;
    }
    default:
      return fettle::to_text(value);
  }
}

const Value* Dict::find(const Value& key) const {
  const auto found = index.find(key_of(key));
  return found == index.end() ? nullptr : &entries[found->second].second;
}

void Dict::set(const Value& key, Value value) {
  const auto [found, is_new] = index.emplace(key_of(key), entries.size());
  constexpr uint64_t of_an_entry = 160;
  if (is_new) {
    bytes_ += of_an_entry + found->first.capacity();
    budget_.take(of_an_entry + found->first.capacity());
    entries.emplace_back(key, std::move(value));
  }
  if (!is_new)
    entries[found->second].second = std::move(value);
}

void Dict::remove(const Value& key) {
  const auto found = index.find(key_of(key));
  if (found == index.end())
    return;
  const size_t at = found->second;
  budget_.spend(entries.size());
  entries.erase(entries.begin() + static_cast<ptrdiff_t>(at));
  index.erase(found);
  for (auto& [name, position] : index)
    position -= position > at;
}

std::optional<Value> Arguments::take(std::string_view name) {
  for (size_t i = 0; i < named.size(); ++i)
    if (named[i].first == name) {
      std::optional<Value> value(named[i].second);
      named.erase(named.begin() + static_cast<ptrdiff_t>(i));
      return value;
    }
  return std::nullopt;
}

std::optional<std::string> digits_of(const Value& value) {
  if (value.is_whole())
    return std::to_string(value.integer());
  if (is_large(value))
    return static_cast<const LargeInteger*>(value.object().get())->digits;
  return std::nullopt;
}

Value whole_value(std::string digits) {
  int64_t small = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto read = std::from_chars(digits.data(), end, small);
      read.ec == std::errc() && read.ptr == end)
    return small;
  return Value(ObjectPtr(std::make_shared<LargeInteger>(std::move(digits))));
}

Error undefined_error(const Value& value) {
  return raise("jinja2.exceptions.UndefinedError", value.undefined_message());
}

std::string type_name(const Value& value) {
  if (value.is_none())
    return "NoneType";
  if (value.is_bool())
    return "bool";
  if (value.is_integer())
    return "int";
  if (value.is_real())
    return "float";
  if (value.is_text())
    return "str";
  if (value.is_list())
    return value.list().is_tuple ? "tuple" : "list";
  if (value.is_dict())
    return "dict";
  return value.is_object()    ? value.object()->type_name()
         : value.is_lenient() ? "Undefined"
                              : "StrictUndefined";
}

std::string text_of(const Value& value) {
  std::string made;
  Writer(made).run(value, false);
  return made;
}
std::string quoted(const Value& value) {
  std::string made;
  Writer(made).run(value, true);
  return made;
}

bool is_true(const Value& value) {
  if (value.is_bool())
    return value.boolean();
  if (value.is_integer())
    return value.integer() != 0;
  if (value.is_real())
    return value.real() != 0;
  if (value.is_text())
    return !value.text().empty() && !value.is_mark();
  if (value.is_list())
    return !value.list().items.empty();
  if (value.is_dict())
    return !value.dict_data().entries.empty();
  return value.is_object() && value.object()->is_true();
}

bool is_equal(const Value& a, const Value& b) { return Comparer().run(a, b); }

Status check_hashable(const Value& value) {
  Budget& budget = Budget::current();
  Items open{value};
  while (!open.empty()) {
    const Value one = std::move(open.back());
    open.pop_back();
    if (!budget.spend(cost::value))
      return budget_error(budget);
    if (one.is_strictly_undefined())
      return undefined_error(one);
    if (one.is_dict() || (one.is_list() && !one.list().is_tuple))
      return raise("TypeError", cat("unhashable type: '", type_name(one), "'"));
    if (one.is_list())
      open.insert(open.end(), one.list().items.begin(), one.list().items.end());
  }
  return {};
}

Result<Items> items_of(const Value& value) {
  Result<Items> items = unread_items_of(value);
  if (items && value.is_list())
    for (const Value& item : *items)
      if (item.is_object())
        TRY(item.object()->readable());
  return items;
}

Result<Items> unread_items_of(const Value& value) {
  const size_t count = value.is_list()   ? value.list().items.size()
                       : value.is_dict() ? value.dict_data().entries.size()
                       : value.is_text() ? 4 * value.text().size()
                                         : 0;
  Budget& budget = Budget::current();
  // The characters of a text become values of their own.
  if (!budget.spend(value.is_text() ? count : count / 4) || !budget.has_room(count * sizeof(Value)))
    return budget_error(budget);
  if (value.is_list())
    return value.list().items;
  Items items;
  if (value.is_dict()) {
    for (const auto& entry : value.dict_data().entries)
      items.push_back(entry.first);
    return items;
  }
  if (value.is_text()) {
    for (const std::string_view point : python::points_of(value.text()))
      items.emplace_back(point);
    return items;
  }
  if (value.is_undefined())
    return value.is_lenient() ? Result<Items>(Items()) : undefined_error(value);
  if (value.is_object())
    if (std::optional<Items> found = TRY(value.object()->items()))
      return std::move(*found);
  return raise("TypeError", cat("'", type_name(value), "' object is not iterable"));
}

Result<int64_t> length_of(const Value& value) {
  if (value.is_number() || value.is_none())
    return raise("TypeError", cat("object of type '", type_name(value), "' has no len()"));
  if (value.is_list())
    return static_cast<int64_t>(value.list().items.size());
  const Result<Items> items = items_of(value);
  if (!items && !value.is_undefined() && items.error().message.ends_with("is not iterable"))
    return raise("TypeError", cat("object of type '", type_name(value), "' has no len()"));
  if (!items)
    return items.error();
  return static_cast<int64_t>(items->size());
}

}  // namespace fettle::jinja
