/// Plugins over strings.

#include "base/search.h"
#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/groups.h"
#include "value/python.h"

namespace fettle::model {
namespace {

bool replace(PluginCall& call) {
  // The largest possible size, if every character is replaced.
  const uint64_t size = call.text(0).size();
  const uint64_t matches = call.text(1).empty() ? size + 1 : size / call.text(1).size();
  if (!call.has_room(2 * (size + matches * call.text(2).size()) + 16 * size))
    return false;
  if (!call.text(1).empty())
    return call.give_text(replace_all(call.text(0), call.text(1), call.text(2)));
  std::string made(call.text(2));
  for (const std::string_view point : python::points_of(call.text(0)))
    made.append(point).append(call.text(2));
  return call.give_text(made);
}

bool split_text(PluginCall& call) {
  const std::string_view delimiter = call.text(1);
  if (delimiter.empty())
    return call.fail("ValueError: empty separator");
  if (!call.has_room(80 * (call.text(0).size() / delimiter.size())))
    return false;
  std::vector<Datum> items;
  std::string_view rest = call.text(0);
  for (size_t found = 0; (found = find_text(rest, delimiter)) != rest.npos;) {
    items.push_back(call.context.make_text(rest.substr(0, found)));
    rest.remove_prefix(found + delimiter.size());
  }
  items.push_back(call.context.make_text(rest));
  return call.give_list(items);
}

bool upper(PluginCall& call) { return call.give_text(python::upper(call.text(0))); }
bool lower(PluginCall& call) { return call.give_text(python::lower(call.text(0))); }

bool capitalize(PluginCall& call) {
  const python::Points points = python::points_of(call.text(0));
  if (points.empty())
    return call.give_text("");
  const std::string_view first = points.front();
  return call.give_text(
      cat(python::upper(first), python::lower(call.text(0).substr(first.size()))));
}

/// `text[:length]`.
bool limit(PluginCall& call) {
  const python::Points points = python::points_of(call.text(0));
  const int64_t length =
      call.integer(1) < 0
          ? std::max<int64_t>(static_cast<int64_t>(points.size()) + call.integer(1), 0)
          : call.integer(1);
  return call.give_text(points.first(static_cast<size_t>(length)));
}

bool length(PluginCall& call) {
  return call.give(Datum::of(static_cast<int64_t>(python::points_of(call.text(0)).size())));
}

bool hostname(PluginCall& call) {
  return call.give_text(call.text(0).substr(0, call.text(0).find('.')));
}

bool is_base64(PluginCall& call) {
  const std::string_view text = call.text(0);
  const size_t end = std::min(text.find('='), text.size());
  const auto is_digit = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '/';
  };
  const bool is_good =
      text.size() % 4 == 0 && text.size() - end <= 2 &&
      text.find_first_not_of('=', end) == text.npos &&
      std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), is_digit);
  return call.give(Datum::of(is_good));
}

/// Takes one step of a field's path: `.name` or `[key]`.
bool step_into(PluginCall& call, Datum& value, std::string_view& path) {
  const bool is_attribute = path[0] == '.';
  const size_t end =
      is_attribute ? std::min(path.find_first_of(".[", 1), path.size()) : path.find(']');
  if (end == path.npos)
    return call.fail("ValueError: Missing ']' in format string");
  const std::string_view key = path.substr(1, end - 1);
  path.remove_prefix(is_attribute ? end : end + 1);
  if (key.empty())
    return call.fail("ValueError: Empty attribute in format string");
  if (is_attribute)
    return call.read(value, key, value);
  const bool is_index = key.find_first_not_of("0123456789") == key.npos && key.size() < 10;
  if (value.tag == Tag::list && is_index) {
    const size_t index = std::stoul(std::string(key));
    if (index >= value.list->items.size())
      return call.fail("IndexError: list index out of range");
    value = value.list->items[index];
    return true;
  }
  const Datum* found = value.tag == Tag::dict && !is_index ? value.dict->find(key) : nullptr;
  if (found == nullptr)
    return call.fail(
        value.tag == Tag::dict
            ? cat("KeyError: ", is_index ? std::string(key) : python::quoted(key))
        : value.tag == Tag::list
            ? "TypeError: list indices must be integers or slices, not str"
            : cat("TypeError: '", python_type(value), "' object is not subscriptable"));
  value = *found;
  return true;
}

bool find_field(PluginCall& call, std::string_view name, Datum& value) {
  const size_t end = std::min(name.find_first_of(".["), name.size());
  const std::string_view first = name.substr(0, end);
  std::string_view path = name.substr(end);
  if (first.find_first_not_of("0123456789") == first.npos) {
    const size_t index = first.size() < 10 ? std::stoul(std::string(first)) : SIZE_MAX;
    if (index >= call.rest.size())
      return call.fail(
          cat("IndexError: Replacement index ", first, " out of range for positional args tuple"));
    value = call.rest[index];
  } else {
    const auto found =
        std::find_if(call.named_rest.begin(), call.named_rest.end(),
                     [&](const DictEntry& entry) { return entry.key->view == first; });
    if (found == call.named_rest.end())
      return call.fail(cat("KeyError: ", python::quoted(first)));
    value = found->value;
  }
  while (!path.empty())
    if (path[0] != '.' && path[0] != '[')
      return call.fail("ValueError: Only '.' or '[' may follow ']' in format field specifier");
    else if (!step_into(call, value, path))
      return false;
  return true;
}

bool format(PluginCall& call) {
  const Program& program = call.context.program();
  uint64_t size = call.text(0).size();
  const python::Field field = [&](std::string_view name, char conversion,
                                  std::string_view spec) -> Result<std::string> {
    Datum value;
    if (!find_field(call, name, value))
      return user_error(call.exception);
    // The parts, and the text that they form.
    size += value.tag == Tag::text ? value.view().size() : 0;
    if (!call.has_room(4 * size))
      return user_error(call.exception);
    if (conversion != 0)
      return python::format_text(
          conversion == 's' ? text_of(program, value) : quoted(program, value), spec);
    std::string shown;
    std::string error;
    if (!spec.empty() &&
        (value.tag == Tag::list || value.tag == Tag::dict || value.tag == Tag::null))
      return user_error(cat("TypeError: unsupported format string passed to ", python_type(value),
                            ".__format__"));
    if (!format_with(program, value, spec, shown, error))
      return user_error(error);
    return shown;
  };
  const Result<std::string> made = python::format(call.text(0), field);
  return made ? call.give_text(*made) : call.fail(made.error().message);
}

constexpr std::array strings_rows{
    PluginRow{"replace", "(string: string, old: string, new: string) -> string", replace},
    PluginRow{"split", "(string_list: string, delim: string) -> list", split_text},
    PluginRow{"upper", "(string: string) -> string", upper},
    PluginRow{"lower", "(string: string) -> string", lower},
    PluginRow{"capitalize", "(string: string) -> string", capitalize},
    PluginRow{"limit", "(string: string, length: int) -> string", limit},
    PluginRow{"length", "(value: string) -> int", length},
    PluginRow{"hostname", "(fqdn: string) -> string", hostname},
    PluginRow{"is_base64_encoded", "(s: string) -> bool", is_base64},
    PluginRow{"format", "(__string: string, *args: any, **kwargs: any) -> string", format},
};

}  // namespace

std::span<const PluginRow> strings_plugins() { return strings_rows; }

}  // namespace fettle::model
