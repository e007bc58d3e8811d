/// Methods of lists and dicts. One more is a row in a table below.

#include "template/jinja/methods.h"
#include "base/text.h"
#include "template/jinja/filters.h"
#include "template/jinja/objects.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

Result<Value> list_index(const Value& self, Arguments& arguments) {
  const Items given = TRY(bind_arguments("index", arguments, {"value"}));
  const Items& items = self.list().items;
  for (size_t i = 0; i < items.size() && Budget::current().spend(cost::value); ++i)
    if (is_equal(items[i], given[0]))
      return Value(static_cast<int64_t>(i));
  return raise("ValueError", cat(quoted(given[0]), " is not in list"));
}

Status check_index(const Value& value) {
  if (!value.is_whole())
    return raise("TypeError",
                 cat("'", type_name(value), "' object cannot be interpreted as an integer"));
  return {};
}

Result<Value> list_pop(const Value& self, Arguments& arguments) {
  const Items given = TRY(bind_arguments("pop", arguments, {"index?"}));
  if (!arguments.positional.empty())
    TRY(check_index(given[0]));
  Items& items = self.list().items;
  const int64_t size = static_cast<int64_t>(items.size());
  int64_t at = given[0].is_whole() ? given[0].integer() : -1;
  at += at < 0 ? size : 0;
  if (at < 0 || at >= size)
    return raise("IndexError", size == 0 ? "pop from empty list" : "pop index out of range");
  Budget::current().spend(static_cast<uint64_t>(size - at) / 4);
  Value taken = std::move(items[static_cast<size_t>(at)]);
  items.erase(items.begin() + at);
  return taken;
}

const MethodTable& list_methods() {
  static const MethodTable table{
      {"append",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("append", given, {"object"}));
         self.list().items.push_back(values[0]);
         self.list().count();
         return Value();
       }},
      {"extend",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("extend", given, {"iterable"}));
         Items more = TRY(items_of(values[0]));
         if (more.size() + self.list().items.size() > size_t{1} << 24)
           return raise("MemoryError", "the list is too long");
         self.list().items.insert(self.list().items.end(), more.begin(), more.end());
         self.list().count();
         return Value();
       }},
      {"insert",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("insert", given, {"index", "object"}));
         TRY(check_index(values[0]));
         Items& items = self.list().items;
         const int64_t size = static_cast<int64_t>(items.size());
         int64_t at = values[0].is_whole() ? values[0].integer() : 0;
         at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
         items.insert(items.begin() + at, values[1]);
         self.list().count();
         Budget::current().spend(items.size() / 4);
         return Value();
       }},
      {"index", list_index},
      {"pop", list_pop},
      {"remove",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("remove", given, {"value"}));
         Items& items = self.list().items;
         const auto found = std::find_if(items.begin(), items.end(), [&](const Value& one) {
           return Budget::current().spend(cost::value) && is_equal(one, values[0]);
         });
         if (found == items.end())
           return raise("ValueError", "list.remove(x): x not in list");
         items.erase(found);
         return Value();
       }},
      {"sort",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("sort", given, {"reverse?"}));
         std::vector<KeyedItem> rows;
         for (const Value& item : self.list().items)
           rows.push_back({{item}, item});
         self.list().items = TRY(sorted(std::move(rows), is_true(values[0])));
         return Value();
       }},
      {"count",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("count", given, {"value"}));
         const Items& items = self.list().items;
         return Value(
             static_cast<int64_t>(std::count_if(items.begin(), items.end(), [&](const Value& one) {
               return is_equal(one, values[0]);
             })));
       }},
      {"reverse",
       [](const Value& self, Arguments&) -> Result<Value> {
         std::reverse(self.list().items.begin(), self.list().items.end());
         return Value();
       }},
      {"clear",
       [](const Value& self, Arguments&) -> Result<Value> {
         self.list().items.clear();
         return Value();
       }},
      {"copy",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value::list(self.list().items);
       }},
  };
  return table;
}

const MethodTable& dict_methods() {
  static const MethodTable table{
      {"items",
       [](const Value& self, Arguments&) -> Result<Value> {
         Items made;
         for (const auto& [key, value] : self.dict_data().entries)
           made.push_back(Value::tuple({key, value}));
         return Value::list(std::move(made));
       }},
      {"keys",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value::list(TRY(items_of(self)));
       }},
      {"values",
       [](const Value& self, Arguments&) -> Result<Value> {
         Items made;
         for (const auto& entry : self.dict_data().entries)
           made.push_back(entry.second);
         return Value::list(std::move(made));
       }},
      {"get",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("get", given, {"key", "default?"}));
         TRY(check_hashable(values[0]));
         const Value* found = self.dict_data().find(values[0]);
         return found != nullptr ? *found : values[1].is_undefined() ? Value() : values[1];
       }},
      {"setdefault",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("setdefault", given, {"key", "default?"}));
         TRY(check_hashable(values[0]));
         if (self.dict_data().find(values[0]) == nullptr)
           self.dict_data().set(values[0], values[1].is_undefined() ? Value() : values[1]);
         return *self.dict_data().find(values[0]);
       }},
      {"update",
       [](const Value& self, Arguments& given) -> Result<Value> {
         for (const Value& other : given.positional) {
           if (!other.is_dict())
             return raise("TypeError", cat("'", type_name(other), "' object is not iterable"));
           const auto entries = other.dict_data().entries;
           for (const auto& [key, value] : entries)
             self.dict_data().set(key, value);
         }
         for (const auto& [name, value] : given.named)
           self.dict_data().set(Value(name), value);
         return Value();
       }},
      {"pop",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("pop", given, {"key", "default?"}));
         TRY(check_hashable(values[0]));
         const Value* found = self.dict_data().find(values[0]);
         if (found == nullptr && values[1].is_undefined())
           return raise("KeyError", quoted(values[0]));
         Value taken = found != nullptr ? *found : values[1];
         self.dict_data().remove(values[0]);
         return taken;
       }},
      {"popitem",
       [](const Value& self, Arguments&) -> Result<Value> {
         if (self.dict_data().entries.empty())
           return raise("KeyError", "'popitem(): dictionary is empty'");
         const auto [key, value] = self.dict_data().entries.back();
         self.dict_data().remove(key);
         return Value::tuple({key, value});
       }},
      {"clear",
       [](const Value& self, Arguments&) -> Result<Value> {
         while (!self.dict_data().entries.empty()) {
           const Value key = self.dict_data().entries.back().first;
           self.dict_data().remove(key);
         }
         return Value();
       }},
      {"copy",
       [](const Value& self, Arguments&) -> Result<Value> {
         Value made = Value::dict();
         for (const auto& [key, value] : self.dict_data().entries)
           made.dict_data().set(key, value);
         return made;
       }},
  };
  return table;
}

}  // namespace

std::optional<Value> find_method(const Value& value, std::string_view name) {
  const MethodTable* table = value.is_text()   ? &text_methods()
                             : value.is_list() ? &list_methods()
                             : value.is_dict() ? &dict_methods()
                                               : nullptr;
  if (table == nullptr)
    return std::nullopt;
  if (value.is_list() && value.list().is_tuple && name != "index" && name != "count")
    return std::nullopt;
  const auto found = table->find(name);
  if (found == table->end())
    return std::nullopt;
  return function_value(std::string(name),
                        [self = value, run = found->second](Arguments& arguments) -> Result<Value> {
                          if (self.is_text())
                            if (Status status = begin_work(self); !status)
                              return status.error();
                          return run(self, arguments);
                        });
}

}  // namespace fettle::jinja
