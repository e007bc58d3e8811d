/// Plugins over strings.

#include "base/text.h"
#include "model/machine.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

bool replace(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  for (const Datum& argument : arguments)
    if (!wants(argument, Tag::text, "a string", error))
      return false;
  result =
      machine.make_text(replace_all(arguments[0].view(), arguments[1].view(), arguments[2].view()));
  return true;
}
bool split_text(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error) ||
      !wants(arguments[1], Tag::text, "a string", error))
    return false;
  const std::string_view delimiter = arguments[1].view();
  if (delimiter.empty()) {
    error = "empty separator";
    return false;
  }
  std::vector<Datum> items;
  std::string_view rest = arguments[0].view();
  for (size_t found = rest.find(delimiter); found != std::string_view::npos;
       found = rest.find(delimiter)) {
    items.push_back(machine.make_text(rest.substr(0, found)));
    rest.remove_prefix(found + delimiter.size());
  }
  items.push_back(machine.make_text(rest));
  result = machine.make_list(items);
  return true;
}
bool upper(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  result = machine.make_text(upper_case(arguments[0].view()));
  return true;
}
bool lower(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  result = machine.make_text(lower_case(arguments[0].view()));
  return true;
}
bool length(Machine&, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  int64_t points = 0;
  for (const char c : arguments[0].view())
    points += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  result = Datum::of(points);
  return true;
}
bool hostname(Machine& machine, Arguments arguments, Datum& result, std::string& error) {
  if (!wants(arguments[0], Tag::text, "a string", error))
    return false;
  result = machine.make_text(arguments[0].view().substr(0, arguments[0].view().find('.')));
  return true;
}

constexpr std::array plugins{
    Plugin{"replace", 3, 3, false, "string old new", replace},
    Plugin{"split", 2, 2, false, "string_list delim", split_text},
    Plugin{"upper", 1, 1, false, "value", upper},
    Plugin{"lower", 1, 1, false, "value", lower},
    Plugin{"length", 1, 1, false, "value", length},
    Plugin{"hostname", 1, 1, false, "fqdn", hostname},
};

}  // namespace

std::span<const Plugin> strings_plugins() { return plugins; }

}  // namespace fettle::model
