#include "model/evaluate/casts.h"

#include "base/text.h"
#include "model/evaluate/make_value.h"
#include "model/program/text_form.h"
#include "model/values/numbers.h"
#include "value/whole.h"

namespace fettle::model {

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

static bool read_whole(Arena& arena, std::string_view text, Datum& value) {
  std::string_view digits = text;
  if (digits.starts_with('-') || digits.starts_with('+'))
    digits.remove_prefix(1);
  if (digits.empty() || digits.size() > whole::most_digits ||
      digits.find_first_not_of("0123456789") != digits.npos)
    return false;
  value = whole_of(arena, text.starts_with('+') ? digits : text);
  return true;
}

static bool read_real(const std::string& text, Datum& value) {
  char* end = nullptr;
  value = Datum::of(std::strtod(text.c_str(), &end));
  return !text.empty() && *end == '\0' && text.find_first_of("xX") == text.npos;
}

Step cast(Program& program, Diagnosis& errors, const Expr& node, std::string_view to,
          const Datum& from, Datum& value) {
  const auto refuse = [&] {
    return errors.fail(node.at, cat("Failed to cast '", shown(program, from), "' to ", to));
  };
  value = from;
  if (from.tag == Tag::unknown)
    return Step::done;
  if (to == "string") {
    if (from.tag == Tag::boolean)
      value = make_text(program, from.boolean ? "true" : "false");
    else if (from.tag == Tag::null)
      value = make_text(program, "null");
    else if (is_too_long(from))
      return errors.fail(node.at, std::string(too_long_text));
    else
      value = make_text(program, text_of(program, from));
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
      case Tag::large:
      case Tag::reference:
        value = Datum::of(true);
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
      case Tag::dict:
        value = Datum::of(!from.dict->entries.empty());
        break;
      default:
        break;
    }
    return Step::done;
  }
  if (from.tag == Tag::text) {
    const std::string text = without_underscores(trim(from.view()));
    const bool is_read =
        to == "int" ? read_whole(program.arena, text, value) : read_real(text, value);
    return is_read ? Step::done : refuse();
  }
  if (!from.is_number())
    return refuse();
  if (to == "float" && from.tag != Tag::floating) {
    value = Datum::of(as_float(from));
    return std::isinf(value.floating) ? errors.fail(node.at, "int too large to convert to float")
                                      : Step::done;
  }
  if (from.tag == Tag::boolean)
    value = Datum::of(as_integer(from));
  if (to != "int" || from.tag != Tag::floating)
    return Step::done;
  if (!std::isfinite(from.floating))
    return refuse();
  value = whole_of(program.arena, whole::of_real(from.floating));
  return Step::done;
}

}  // namespace fettle::model
