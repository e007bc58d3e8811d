/// Methods of texts, lists and dicts. One more is a row in a table below.

#include "base/text.h"
#include "template/jinja/objects.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

using Method = Result<Value> (*)(const Value& self, Arguments& arguments);
using Table = std::unordered_map<std::string_view, Method>;

constexpr std::string_view blanks = " \t\n\r\v\f";
constexpr int64_t widest_text = 1'000'000;

Result<Items> texts(std::string_view name, Arguments& arguments,
                    std::initializer_list<std::string_view> parameters) {
  Items given = TRY(bind_arguments(name, arguments, parameters));
  for (const Value& value : given)
    if (value.is_undefined() && !value.undefined_message().empty())
      return undefined_error(value);
  return given;
}

Result<std::string> text_argument(const Value& value) {
  if (!value.is_text())
    return raise("TypeError", cat("must be str, not ", type_name(value)));
  return value.text();
}

std::string stripped(const std::string& text, const std::string& chars, bool left, bool right) {
  const size_t first = left ? std::min(text.find_first_not_of(chars), text.size()) : 0;
  const size_t last = right ? text.find_last_not_of(chars) + 1 : text.size();
  return last > first ? text.substr(first, last - first) : "";
}

template <bool left, bool right>
Result<Value> strip(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("strip", arguments, {"chars?"}));
  return Value(stripped(self.text(), given[0].is_text() ? given[0].text() : std::string(blanks),
                        left, right));
}

Result<Value> split_text(const Value& self, Arguments& arguments, bool is_right) {
  const Items given = TRY(texts("split", arguments, {"sep?", "maxsplit?"}));
  int64_t left = given[1].is_whole() ? given[1].integer() : -1;
  std::string_view rest = self.text();
  Items made;
  if (!given[0].is_text()) {
    const auto trim_blanks = [&] {
      const size_t first =
          is_right ? rest.find_last_not_of(blanks) : rest.find_first_not_of(blanks);
      rest = first == rest.npos ? std::string_view()
             : is_right         ? rest.substr(0, first + 1)
                                : rest.substr(first);
    };
    for (trim_blanks(); !rest.empty(); trim_blanks()) {
      const size_t end = left == 0  ? rest.npos
                         : is_right ? rest.find_last_of(blanks)
                                    : rest.find_first_of(blanks);
      left -= left > 0;
      made.emplace_back(end == rest.npos ? rest
                        : is_right       ? rest.substr(end + 1)
                                         : rest.substr(0, end));
      rest = end == rest.npos ? std::string_view()
             : is_right       ? rest.substr(0, end)
                              : rest.substr(end);
    }
  } else {
    const std::string& separator = given[0].text();
    if (separator.empty())
      return raise("ValueError", "empty separator");
    for (; left != 0; --left) {
      const size_t end = is_right ? rest.rfind(separator) : rest.find(separator);
      if (end == rest.npos)
        break;
      made.emplace_back(is_right ? rest.substr(end + separator.size()) : rest.substr(0, end));
      rest = is_right ? rest.substr(0, end) : rest.substr(end + separator.size());
    }
    made.emplace_back(rest);
  }
  if (is_right)
    std::reverse(made.begin(), made.end());
  return Value::list(std::move(made));
}

Result<Value> splitlines(const Value& self, Arguments&) {
  Items made;
  std::vector<std::string_view> lines = split(self.text(), '\n');
  if (!lines.empty() && lines.back().empty())
    lines.pop_back();
  for (const std::string_view line : lines)
    made.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  return Value::list(std::move(made));
}

Result<Value> join_items(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("join", arguments, {"iterable"}));
  std::string made;
  size_t index = 0;
  for (const Value& item : TRY(items_of(given[0]))) {
    if (!item.is_text())
      return raise("TypeError", cat("sequence item ", index, ": expected str instance, ",
                                    type_name(item), " found"));
    if (Status status = add(made, index++ == 0 ? std::string_view() : self.text()); !status)
      return status.error();
    if (Status status = add(made, item.text()); !status)
      return status.error();
  }
  return Value(std::move(made));
}

Result<Value> replace(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("replace", arguments, {"old", "new", "count?"}));
  const std::string from = TRY(text_argument(given[0]));
  const std::string to = TRY(text_argument(given[1]));
  if (from.empty())
    return raise("ValueError", "replacing nothing is not possible");
  int64_t left = given[2].is_whole() ? given[2].integer() : -1;
  std::string made;
  size_t at = 0;
  for (size_t found = self.text().find(from); found != std::string::npos && left != 0;
       found = self.text().find(from, at), --left) {
    if (Status status = add(made, cat(std::string_view(self.text()).substr(at, found - at), to));
        !status)
      return status.error();
    at = found + from.size();
  }
  return Value(made + self.text().substr(at));
}

template <bool is_end>
Result<Value> affix(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("startswith", arguments, {"prefix"}));
  const Items choices = given[0].is_list() ? given[0].list().items : Items{given[0]};
  for (const Value& choice : choices) {
    const std::string affix = TRY(text_argument(choice));
    if (is_end ? self.text().ends_with(affix) : self.text().starts_with(affix))
      return Value(true);
  }
  return Value(false);
}

int64_t points_before(const std::string& text, size_t at) {
  return static_cast<int64_t>(python::points_of(std::string_view(text).substr(0, at)).size());
}

Result<Value> find(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("find", arguments, {"sub"}));
  const size_t found = self.text().find(TRY(text_argument(given[0])));
  return found == std::string::npos ? Value(-1) : Value(points_before(self.text(), found));
}
Result<Value> rfind(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("rfind", arguments, {"sub"}));
  const size_t found = self.text().rfind(TRY(text_argument(given[0])));
  return found == std::string::npos ? Value(-1) : Value(points_before(self.text(), found));
}
Result<Value> index(const Value& self, Arguments& arguments) {
  const Value found = TRY(find(self, arguments));
  if (found.integer() < 0)
    return raise("ValueError", "substring not found");
  return found;
}
Result<Value> count(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("count", arguments, {"sub"}));
  const std::string sub = TRY(text_argument(given[0]));
  int64_t found = sub.empty() ? points_before(self.text(), self.text().size()) + 1 : 0;
  for (size_t at = self.text().find(sub); !sub.empty() && at != std::string::npos;
       at = self.text().find(sub, at + sub.size()))
    ++found;
  return Value(found);
}

template <int (*is_kind)(int)>
Result<Value> is_all(const Value& self, Arguments&) {
  const std::string& text = self.text();
  return Value(!text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c & 0x80) != 0 || is_kind(static_cast<unsigned char>(c)) != 0;
  }));
}

Result<Value> justified(const Value& self, Arguments& arguments, char align) {
  const Items given = TRY(texts("ljust", arguments, {"width", "fillchar?"}));
  if (!given[0].is_whole() || given[0].integer() > widest_text)
    return raise("TypeError", "a width is a whole number that is not too large");
  const std::string fill = given[1].is_text() ? given[1].text() : " ";
  if (python::points_of(fill).size() != 1)
    return raise("TypeError", "The fill character must be exactly one character long");
  const int64_t missing =
      std::max<int64_t>(0, given[0].integer() - points_before(self.text(), self.text().size()));
  const int64_t left = align == '<'   ? 0
                       : align == '>' ? missing
                                      : missing / 2 + (missing & given[0].integer() & 1);
  std::string made;
  for (int64_t i = 0; i < left; ++i)
    made += fill;
  made += self.text();
  for (int64_t i = left; i < missing; ++i)
    made += fill;
  return Value(std::move(made));
}

Result<Value> zfill(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("zfill", arguments, {"width"}));
  const int64_t width = given[0].is_whole() ? std::min(given[0].integer(), widest_text) : 0;
  const bool has_sign = self.text().starts_with('-') || self.text().starts_with('+');
  const int64_t missing =
      std::max<int64_t>(0, width - points_before(self.text(), self.text().size()));
  std::string made = self.text();
  made.insert(has_sign ? 1 : 0, std::string(static_cast<size_t>(missing), '0'));
  return Value(std::move(made));
}

Result<Value> title(const Value& self, Arguments&) {
  std::string made;
  bool starts = true;
  for (const std::string_view point : python::points_of(self.text())) {
    const bool is_letter =
        (point[0] & 0x80) != 0 || std::isalpha(static_cast<unsigned char>(point[0]));
    made += starts ? python::upper(point) : python::lower(point);
    starts = !is_letter;
  }
  return Value(std::move(made));
}

Result<Value> swapcase(const Value& self, Arguments&) {
  std::string made;
  for (const std::string_view point : python::points_of(self.text()))
    made += python::upper(point) == point ? python::lower(point) : python::upper(point);
  return Value(std::move(made));
}

Result<Value> capitalize(const Value& self, Arguments&) {
  const auto points = python::points_of(self.text());
  return Value(points.empty()
                   ? std::string()
                   : cat(python::upper(points[0]),
                         python::lower(std::string_view(self.text()).substr(points[0].size()))));
}

template <bool is_right>
Result<Value> partition(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("partition", arguments, {"sep"}));
  const std::string separator = TRY(text_argument(given[0]));
  if (separator.empty())
    return raise("ValueError", "empty separator");
  const size_t found = is_right ? self.text().rfind(separator) : self.text().find(separator);
  if (found == std::string::npos)
    return is_right ? Value::tuple({Value(""), Value(""), self})
                    : Value::tuple({self, Value(""), Value("")});
  return Value::tuple({Value(self.text().substr(0, found)), Value(separator),
                       Value(self.text().substr(found + separator.size()))});
}

template <bool is_end>
Result<Value> remove_affix(const Value& self, Arguments& arguments) {
  const Items given = TRY(texts("removeprefix", arguments, {"prefix"}));
  const std::string affix = TRY(text_argument(given[0]));
  const bool is_there = is_end ? self.text().ends_with(affix) : self.text().starts_with(affix);
  return !is_there ? self
                   : Value(is_end ? self.text().substr(0, self.text().size() - affix.size())
                                  : self.text().substr(affix.size()));
}

/// The value that a field `0.name[key]` of `format` names. Attributes that lead out do not exist.
Result<Value> field_value(std::string_view name, const Arguments& arguments) {
  const size_t end = std::min(name.find_first_of(".["), name.size());
  const std::string first(name.substr(0, end));
  Value value;
  if (first.find_first_not_of("0123456789") == std::string::npos) {
    const size_t at = first.size() < 6 ? std::stoul(first) : SIZE_MAX;
    if (at >= arguments.positional.size())
      return raise("IndexError",
                   cat("Replacement index ", first, " out of range for positional args tuple"));
    value = arguments.positional[at];
  } else {
    const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& named) { return named.first == first; });
    if (found == arguments.named.end())
      return raise("KeyError", python::quoted(first));
    value = found->second;
  }
  for (std::string_view path = name.substr(end); !path.empty();) {
    const bool is_attribute = path[0] == '.';
    const size_t stop =
        is_attribute ? std::min(path.find_first_of(".[", 1), path.size()) : path.find(']');
    if (stop == path.npos || (!is_attribute && path[0] != '['))
      return raise("ValueError", "Missing ']' in format string");
    const std::string key(path.substr(1, stop - 1));
    path.remove_prefix(is_attribute ? stop : stop + 1);
    const bool is_index =
        !key.empty() && key.size() < 6 && key.find_first_not_of("0123456789") == std::string::npos;
    const Value* found =
        value.is_dict() ? value.dict_data().find(
                              is_index ? Value(static_cast<int64_t>(std::stoul(key))) : Value(key))
                        : nullptr;
    if (value.is_list() && is_index && std::stoul(key) < value.list().items.size())
      found = &value.list().items[std::stoul(key)];
    if (found == nullptr)
      return raise(is_attribute ? "AttributeError" : "KeyError",
                   is_attribute
                       ? cat("'", type_name(value), "' object has no attribute '", key, "'")
                       : python::quoted(key));
    const Value next = *found;
    value = next;
  }
  return value;
}

Result<Value> format(const Value& self, Arguments& arguments) {
  return Value(TRY(python::format(
      self.text(),
      [&](std::string_view name, char conversion, std::string_view spec) -> Result<std::string> {
        const Value value = TRY(field_value(name, arguments));
        if (value.is_undefined())
          return undefined_error(value);
        if (conversion != 0)
          return python::format_text(conversion == 's' ? text_of(value) : quoted(value), spec);
        if (value.is_real())
          return python::format_real(value.real(), spec);
        if (value.is_integer() || (value.is_bool() && !spec.empty()))
          return python::format_integer(value.integer(), spec);
        if (!value.is_text() && !value.is_bool() && !spec.empty())
          return raise("TypeError", cat("unsupported format string passed to ", type_name(value),
                                        ".__format__"));
        return python::format_text(text_of(value), spec);
      })));
}

const Table& text_methods() {
  static const Table table{
      {"upper",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::upper(self.text()));
       }},
      {"lower",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::lower(self.text()));
       }},
      {"casefold",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::lower(self.text()));
       }},
      {"strip", strip<true, true>},
      {"lstrip", strip<true, false>},
      {"rstrip", strip<false, true>},
      {"split", [](const Value& self, Arguments& given) { return split_text(self, given, false); }},
      {"rsplit", [](const Value& self, Arguments& given) { return split_text(self, given, true); }},
      {"splitlines", splitlines},
      {"join", join_items},
      {"replace", replace},
      {"startswith", affix<false>},
      {"endswith", affix<true>},
      {"find", find},
      {"rfind", rfind},
      {"index", index},
      {"count", count},
      {"isdigit", is_all<std::isdigit>},
      {"isnumeric", is_all<std::isdigit>},
      {"isdecimal", is_all<std::isdigit>},
      {"isalpha", is_all<std::isalpha>},
      {"isalnum", is_all<std::isalnum>},
      {"isspace", is_all<std::isspace>},
      {"isupper",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::upper(self.text()) == self.text() &&
                      python::lower(self.text()) != self.text());
       }},
      {"islower",
       [](const Value& self, Arguments&) -> Result<Value> {
         return Value(python::lower(self.text()) == self.text() &&
                      python::upper(self.text()) != self.text());
       }},
      {"ljust", [](const Value& self, Arguments& given) { return justified(self, given, '<'); }},
      {"rjust", [](const Value& self, Arguments& given) { return justified(self, given, '>'); }},
      {"center", [](const Value& self, Arguments& given) { return justified(self, given, '^'); }},
      {"zfill", zfill},
      {"title", title},
      {"swapcase", swapcase},
      {"capitalize", capitalize},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"removeprefix", remove_affix<false>},
      {"removesuffix", remove_affix<true>},
      {"format", format},
  };
  return table;
}

Result<Value> list_index(const Value& self, Arguments& arguments) {
  const Items given = TRY(bind_arguments("index", arguments, {"value"}));
  const Items& items = self.list().items;
  for (size_t i = 0; i < items.size() && Budget::current().spend(cost::value); ++i)
    if (is_equal(items[i], given[0]))
      return Value(static_cast<int64_t>(i));
  return raise("ValueError", cat(quoted(given[0]), " is not in list"));
}

Result<Value> list_pop(const Value& self, Arguments& arguments) {
  const Items given = TRY(bind_arguments("pop", arguments, {"index?"}));
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

const Table& list_methods() {
  static const Table table{
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

const Table& dict_methods() {
  static const Table table{
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
         const Value* found = self.dict_data().find(values[0]);
         return found != nullptr ? *found : values[1].is_undefined() ? Value() : values[1];
       }},
      {"setdefault",
       [](const Value& self, Arguments& given) -> Result<Value> {
         const Items values = TRY(bind_arguments("setdefault", given, {"key", "default?"}));
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
         const Value* found = self.dict_data().find(values[0]);
         if (found == nullptr && values[1].is_undefined())
           return raise("KeyError", quoted(values[0]));
         Value taken = found != nullptr ? *found : values[1];
         self.dict_data().remove(values[0]);
         return taken;
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
  const Table* table = value.is_text()   ? &text_methods()
                       : value.is_list() ? &list_methods()
                       : value.is_dict() ? &dict_methods()
                                         : nullptr;
  if (table == nullptr)
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
