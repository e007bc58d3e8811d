#include <cmath>
#include <limits>

#include "base/budget.h"
#include "jq/lexer.h"
#include "jq/natives.h"
#include "jq/paths.h"

namespace fettle::jq {
namespace {

Answer absolute(const Json& value) {
  if (value.kind() == Json::Kind::real)
    return Json::real(std::abs(value.real()));
  if (value.kind() == Json::Kind::numeral)
    return value.text().starts_with('-') ? Json::numeral(value.text().substr(1)) : value;
  return compare(value, Json::integer(0)) >= 0 ? value
                                               : *find_native("_negate", 0)->compute(value, {});
}

Answer abs(const Json& input, Arguments) {
  return input.is_number() ? absolute(input) : not_for("abs", input);
}

Answer length(const Json& input, Arguments) {
  const auto count = [](size_t size) { return Json::integer(static_cast<int64_t>(size)); };
  if (input.is_null())
    return Json::integer(0);
  if (input.is_number())
    return absolute(input);
  if (input.is_text())
    return Json::integer(count_characters(input.text()));
  if (input.is_list())
    return count(input.items().size());
  return input.is_dict() ? Answer(count(input.members().size())) : not_for("length", input);
}

Answer type(const Json& input, Arguments) { return Json::text(std::string(type_name(input))); }

Answer to_json(const Json& input, Arguments) { return Json::text(text_form(input)); }

Answer to_string(const Json& input, Arguments) {
  return input.is_text() ? input : Json::text(text_form(input));
}

Answer from_json(const Json& input, Arguments) {
  if (!input.is_text())
    return not_for("fromjson", input);
  tl::expected<Json, std::string> value = read(input.text(), Numbers::numeral);
  if (!value && value.error().empty())
    return not_for("fromjson", input);
  if (!value)
    return fail("fromjson cannot be applied to ", preview(input), ": ", value.error());
  return std::move(*value);
}

Answer to_number(const Json& input, Arguments) {
  if (input.is_number())
    return input;
  if (!input.is_text())
    return not_for("tonumber", input);
  if (!is_number(input.text()))
    return fail("tonumber cannot be applied to ", preview(input), ": invalid number");
  return number_of(input.text());
}

Answer to_boolean(const Json& input, Arguments) {
  if (input.kind() == Json::Kind::boolean)
    return input;
  if (!input.is_text())
    return not_for("toboolean", input);
  if (input.text() != "true" && input.text() != "false")
    return fail("toboolean cannot be applied to ", preview(input), ": invalid boolean");
  return Json::boolean(input.text() == "true");
}

Answer error(const Json& input, Arguments given) {
  return tl::unexpected(Failure{.value = given.empty() ? input : given[0]});
}

Answer halt(const Json& input, Arguments given) {
  if (!given.empty() && !given[0].is_number())
    return not_for("halt_error", given[0]);
  return tl::unexpected(Failure{.sort = Failure::Sort::halted, .value = input});
}

template <bool (*holds)(double)>
Answer is_such(const Json& input, Arguments) {
  const std::optional<double> number = to_real(input);
  return Json::boolean(number && holds(*number));
}
bool is_finite(double number) { return !std::isinf(number); }
bool is_infinite(double number) { return std::isinf(number); }
bool is_normal(double number) { return std::isnormal(number); }

Answer is_nan(const Json& input, Arguments) {
  const std::optional<double> number = to_real(input);
  if (!number && !input.is_null())
    return not_for("isnan", input);
  return Json::boolean(number && std::isnan(*number));
}

Answer infinite(const Json&, Arguments) {
  return Json::real(std::numeric_limits<double>::infinity());
}
Answer nan(const Json&, Arguments) { return Json::real(std::numeric_limits<double>::quiet_NaN()); }

Answer index(const Json&, Arguments given) { return index_value(given[0], given[1]); }
Answer slice(const Json&, Arguments given) { return slice_value(given[0], given[1], given[2]); }
Answer getpath(const Json& input, Arguments given) { return get_path(input, given[0]); }
Answer delpaths(const Json& input, Arguments given) { return delete_paths(input, given[0]); }
Answer setpath(const Json& input, Arguments given) {
  Json made = input;
  if (std::optional<Failure> refused = set_path(made, given[0], given[1]))
    return tl::unexpected(std::move(*refused));
  return made;
}

Answer builtins(const Json&, Arguments) {
  Json::List names;
  for (std::string& name : known_functions())
    names.push_back(Json::text(std::move(name)));
  return Json::list(std::move(names));
}

}  // namespace

std::span<const Native> plain_functions() {
  static const Native table[] = {
      {"abs", 0, abs},
      {"builtins", 0, builtins},
      {"delpaths", 1, delpaths},
      {"error", 0, error},
      {"error", 1, error},
      {"fromjson", 0, from_json},
      {"getpath", 1, getpath},
      {"halt", 0, halt},
      {"halt_error", 0, halt},
      {"halt_error", 1, halt},
      {"_index", 2, index},
      {"infinite", 0, infinite},
      {"isfinite", 0, is_such<is_finite>},
      {"isinfinite", 0, is_such<is_infinite>},
      {"isnan", 0, is_nan},
      {"isnormal", 0, is_such<is_normal>},
      {"length", 0, length},
      {"nan", 0, nan},
      {"setpath", 2, setpath},
      {"_slice", 3, slice},
      {"toboolean", 0, to_boolean},
      {"tojson", 0, to_json},
      {"tonumber", 0, to_number},
      {"tostring", 0, to_string},
      {"type", 0, type},
  };
  return table;
}

}  // namespace fettle::jq
