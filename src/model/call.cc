#include <charconv>
#include <iterator>

#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {

Step Machine::evaluate_call(const Call& node, Frame* frame, Datum& value) {
  if (node.plugin != nullptr)
    return call_plugin(node, frame, value);
  std::string shown;
  for (const Argument& argument : node.arguments)
    shown += cat(shown.empty() ? "" : ",", constraint_text(program_, argument.value));
  for (const Argument& argument : node.arguments)
    if (!argument.is_positional)
      return fail(node.at, "Only positional arguments allowed in type cast");
  if (node.arguments.size() != 1)
    return fail(node.at,
                cat("Illegal arguments ", shown, ": type cast expects exactly 1 argument"));
  Datum from;
  if (const Step step = evaluate(node.arguments[0].value, frame, from); step != Step::done)
    return step;
  return cast(node, program_.symbols.name(node.function.name), from, value);
}

/// Python reads `1_000` as a number; an underscore must stand between digits.
static std::string without_underscores(std::string_view text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_between = text[i] == '_' && i > 0 && i + 1 < text.size() &&
                            std::isdigit(static_cast<unsigned char>(text[i - 1])) &&
                            std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (!is_between)
      made.push_back(text[i]);
  }
  return made;
}

Step Machine::cast(const Call& node, std::string_view to, const Datum& from, Datum& value) {
  const auto refuse = [&] {
    return fail(node.at, cat("Failed to cast '", shown(program_, from), "' to ", to));
  };
  value = from;
  if (from.tag == Tag::unknown)
    return Step::done;
  if (to == "string") {
    if (from.tag == Tag::boolean)
      value = make_text(from.boolean ? "true" : "false");
    else if (from.tag == Tag::null)
      value = make_text("null");
    else
      value = make_text(text_of(program_, from));
    return Step::done;
  }
  if (to == "bool") {
    switch (from.tag) {
      case Tag::null:
        value = Datum::of(false);
        break;
      case Tag::integer:
        value = Datum::of(from.integer != 0);
        break;
      case Tag::floating:
        value = Datum::of(from.floating != 0);
        break;
      case Tag::text:
        value = Datum::of(!from.view().empty());
        break;
      case Tag::list:
        value = Datum::of(!from.list->items.empty());
        break;
      default:
        break;
    }
    return Step::done;
  }
  if (from.tag == Tag::text) {
    const std::string text = without_underscores(trim(from.view()));
    int64_t whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0';
    if (to == "int" ? !is_whole : !is_number)
      return refuse();
    value = to == "int" ? Datum::of(whole) : Datum::of(number);
    return Step::done;
  }
  if (!from.is_number())
    return refuse();
  if (to == "float")
    value = Datum::of(as_float(from));
  else if (from.tag != Tag::floating)
    value = Datum::of(as_integer(from));
  else if (to == "int" && !(std::fabs(from.floating) < 9e18))
    return refuse();
  else if (to == "int")
    value = Datum::of(static_cast<int64_t>(from.floating));
  return Step::done;
}

}  // namespace fettle::model
