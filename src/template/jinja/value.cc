#include "template/jinja/value.h"

#include <cmath>

#include "base/text.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

constexpr int deepest_text = 60;
constexpr size_t longest_text = size_t{1} << 26;

/// What equal keys share.
std::string key_of(const Value& key) {
  if (key.is_text())
    return "s" + key.text();
  if (key.is_whole())
    return "n" + std::to_string(key.integer());
  if (key.is_real() && key.real() == std::floor(key.real()) && std::fabs(key.real()) < 9e15)
    return "n" + std::to_string(static_cast<int64_t>(key.real()));
  return type_name(key) + quoted(key);
}

void write(std::string& made, const Value& value, bool is_quoted, int depth) {
  if (depth > deepest_text || made.size() > longest_text) {
    made += "...";
    return;
  }
  if (value.is_list()) {
    const List& list = value.list();
    made += list.is_tuple ? "(" : "[";
    for (size_t i = 0; i < list.items.size(); ++i) {
      made += i == 0 ? "" : ", ";
      write(made, list.items[i], true, depth + 1);
    }
    made += list.is_tuple ? (list.items.size() == 1 ? ",)" : ")") : "]";
  } else if (value.is_dict()) {
    made += "{";
    bool is_first = true;
    for (const auto& [key, item] : value.dict_data().entries) {
      made += std::exchange(is_first, false) ? "" : ", ";
      write(made, key, true, depth + 1);
      made += ": ";
      write(made, item, true, depth + 1);
    }
    made += "}";
  } else if (value.is_text()) {
    made += is_quoted ? python::quoted(value.text()) : value.text();
  } else if (value.is_none()) {
    made += "None";
  } else if (value.is_bool()) {
    made += value.boolean() ? "True" : "False";
  } else if (value.is_integer()) {
    made += std::to_string(value.integer());
  } else if (value.is_real()) {
    made += python::real_text(value.real());
  } else if (value.is_object()) {
    made += value.object()->text();
  } else {
    made += "Undefined";
  }
}

bool is_equal_within(const Value& a, const Value& b, int depth) {
  if (a.is_number() && b.is_number())
    return a.is_real() || b.is_real() ? a.real() == b.real() : a.integer() == b.integer();
  if (a.is_text() && b.is_text())
    return a.text() == b.text();
  if (depth > deepest_text)
    return false;
  if (a.is_list() && b.is_list()) {
    const List& left = a.list();
    const List& right = b.list();
    return left.is_tuple == right.is_tuple &&
           std::equal(
               left.items.begin(), left.items.end(), right.items.begin(), right.items.end(),
               [&](const Value& x, const Value& y) { return is_equal_within(x, y, depth + 1); });
  }
  if (a.is_dict() && b.is_dict()) {
    const auto& entries = a.dict_data().entries;
    return entries.size() == b.dict_data().entries.size() &&
           std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
             const Value* other = b.dict_data().find(entry.first);
             return other != nullptr && is_equal_within(entry.second, *other, depth + 1);
           });
  }
  return (a.is_undefined() && b.is_undefined()) || a.is_same(b);
}

Result<bool> is_less_within(const Value& a, const Value& b, int depth) {
  if (a.is_number() && b.is_number())
    return a.is_real() || b.is_real() ? a.real() < b.real() : a.integer() < b.integer();
  if (a.is_text() && b.is_text())
    return a.text() < b.text();
  if (a.is_list() && b.is_list() && a.list().is_tuple == b.list().is_tuple &&
      depth < deepest_text) {
    const Items& left = a.list().items;
    const Items& right = b.list().items;
    for (size_t i = 0; i < left.size() && i < right.size(); ++i)
      if (!is_equal(left[i], right[i]))
        return is_less_within(left[i], right[i], depth + 1);
    return left.size() < right.size();
  }
  if (a.is_undefined())
    return undefined_error(a);
  if (b.is_undefined())
    return undefined_error(b);
  return raise("TypeError", cat("'<' not supported between instances of '", type_name(a), "' and '",
                                type_name(b), "'"));
}

}  // namespace

Result<std::optional<Value>> Object::item(const Value&) { return std::optional<Value>(); }

Result<std::optional<Value>> Object::attribute(std::string_view) { return std::optional<Value>(); }
Result<Value> Object::call(Arguments&) {
  return raise("TypeError", cat("'", type_name(), "' object is not callable"));
}
Result<std::optional<Items>> Object::items() { return std::optional<Items>(); }

namespace {

/// Ends what nobody else has without recursion.
void release(Items pending) {
  while (!pending.empty()) {
    const Value last = std::move(pending.back());
    pending.pop_back();
    if (last.is_list() && last.is_sole()) {
      for (Value& item : last.list().items)
        pending.push_back(std::move(item));
      last.list().items.clear();
    } else if (last.is_dict() && last.is_sole()) {
      for (auto& entry : last.dict_data().entries)
        pending.push_back(std::move(entry.second));
      last.dict_data().entries.clear();
    }
  }
}

bool holds_containers(const Items& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const Value& item) { return item.is_list() || item.is_dict(); });
}

}  // namespace

List::~List() {
  if (holds_containers(items))
    release(std::move(items));
}
Dict::~Dict() {
  Items values;
  for (auto& entry : entries)
    if (entry.second.is_list() || entry.second.is_dict())
      values.push_back(std::move(entry.second));
  release(std::move(values));
}

void Circles::add(const Value& value) {
  if (value.is_list() && !std::exchange(value.list().is_known, true))
    lists_.push_back(std::get<std::shared_ptr<List>>(value.data_));
  if (value.is_dict() && !std::exchange(value.dict_data().is_known, true))
    dicts_.push_back(std::get<std::shared_ptr<Dict>>(value.data_));
}

void Circles::release() {
  for (const std::weak_ptr<List>& weak : lists_)
    if (const std::shared_ptr<List> list = weak.lock())
      const Items dropped = std::exchange(list->items, {});
  for (const std::weak_ptr<Dict>& weak : dicts_)
    if (const std::shared_ptr<Dict> dict = weak.lock())
      const auto dropped = std::exchange(dict->entries, {});
}

bool Value::is_sole() const {
  return is_list() ? std::get<std::shared_ptr<List>>(data_).use_count() == 1
                   : is_dict() && std::get<std::shared_ptr<Dict>>(data_).use_count() == 1;
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
  if (is_new)
    entries.emplace_back(key, std::move(value));
  else
    entries[found->second].second = std::move(value);
}

void Dict::remove(const Value& key) {
  const auto found = index.find(key_of(key));
  if (found == index.end())
    return;
  const size_t at = found->second;
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
  return value.is_object() ? value.object()->type_name() : "StrictUndefined";
}

std::string text_of(const Value& value) {
  std::string made;
  write(made, value, false, 0);
  return made;
}
std::string quoted(const Value& value) {
  std::string made;
  write(made, value, true, 0);
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
    return !value.text().empty();
  if (value.is_list())
    return !value.list().items.empty();
  if (value.is_dict())
    return !value.dict_data().entries.empty();
  return value.is_object() && value.object()->is_true();
}

bool is_equal(const Value& a, const Value& b) { return is_equal_within(a, b, 0); }
Result<bool> is_less(const Value& a, const Value& b) { return is_less_within(a, b, 0); }

Result<Items> items_of(const Value& value) {
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
    return undefined_error(value);
  if (value.is_object())
    if (std::optional<Items> found = TRY(value.object()->items()))
      return std::move(*found);
  return raise("TypeError", cat("'", type_name(value), "' object is not iterable"));
}

Result<int64_t> length_of(const Value& value) {
  if (value.is_number() || value.is_none())
    return raise("TypeError", cat("object of type '", type_name(value), "' has no len()"));
  const Result<Items> items = items_of(value);
  if (!items && !value.is_undefined() && items.error().message.ends_with("is not iterable"))
    return raise("TypeError", cat("object of type '", type_name(value), "' has no len()"));
  if (!items)
    return items.error();
  return static_cast<int64_t>(items->size());
}

}  // namespace fettle::jinja
