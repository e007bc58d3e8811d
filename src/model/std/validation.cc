/// `std::validate_type`: whether a value fits a type of Python's `ipaddress`, `datetime` or `uuid`,
/// or of pydantic, which reads texts generously (`"3"` counts as an int).

#include <re2/re2.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/std/formats.h"
#include "model/std/groups.h"
#include "model/std/pydantic_types.h"
#include "model/values/numbers.h"
#include "value/python.h"

namespace fettle::model {
namespace {

/// One check: whether the value passes. It may refuse its parameters by an exception in the call.
using Check = bool (*)(PluginCall& call, const Datum& value);

/// A number as pydantic reads it. None: it is no number.
std::optional<double> read_number(const Datum& value) {
  if (value.is_number())
    return as_float(value);
  if (value.tag != Tag::text)
    return std::nullopt;
  const std::string_view text = trim(value.view());
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// A text of a whole number has no exponent.
std::optional<double> read_whole(const Datum& value) {
  if (value.tag == Tag::text && value.view().find_first_of("eE") != std::string_view::npos)
    return std::nullopt;
  const std::optional<double> number = read_number(value);
  return number && std::floor(*number) == *number ? number : std::nullopt;
}

std::span<const DictEntry> parameters_of(const PluginCall& call) {
  return call[2].tag == Tag::dict ? call[2].dict->entries : std::span<const DictEntry>();
}

/// The bounds that pydantic's `conint`, `confloat` and `condecimal` accept.
bool is_within(PluginCall& call, std::string_view function, double number) {
  bool is_good = true;
  for (const DictEntry& entry : parameters_of(call)) {
    const std::string_view name = entry.key->view;
    const std::optional<double> bound = read_number(entry.value);
    if (name == "strict" || !bound)
      continue;
    if (name == "gt")
      is_good &= number > *bound;
    else if (name == "ge")
      is_good &= number >= *bound;
    else if (name == "lt")
      is_good &= number < *bound;
    else if (name == "le")
      is_good &= number <= *bound;
    else if (name == "multiple_of")
      is_good &= *bound != 0 && std::fabs(std::remainder(number, *bound)) < 1e-9;
    else if (function != "condecimal" || (name != "max_digits" && name != "decimal_places"))
      return call.fail(
          cat("TypeError: ", function, "() got an unexpected keyword argument '", name, "'"));
  }
  return is_good;
}

bool is_constrained_int(PluginCall& call, const Datum& value) {
  const std::optional<double> number = read_whole(value);
  return is_within(call, "conint", number.value_or(0)) && number.has_value();
}
bool is_constrained_float(PluginCall& call, const Datum& value) {
  const std::optional<double> number = read_number(value);
  return is_within(call, "confloat", number.value_or(0)) && number.has_value();
}

bool is_constrained_decimal(PluginCall& call, const Datum& value) {
  const std::optional<double> number =
      value.tag == Tag::boolean ? std::nullopt : read_number(value);
  const bool is_inside = is_within(call, "condecimal", number.value_or(0));
  if (!call.exception.empty() || !number || !std::isfinite(*number))
    return false;
  const std::string text = text_of(call.context.program(), value);
  const size_t digits = static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }));
  const size_t places = text.find('.') == text.npos ? 0 : text.size() - text.find('.') - 1;
  for (const DictEntry& entry : parameters_of(call))
    if (entry.value.tag == Tag::integer &&
        ((entry.key->view == "max_digits" && digits > static_cast<size_t>(entry.value.integer)) ||
         (entry.key->view == "decimal_places" &&
          places > static_cast<size_t>(entry.value.integer))))
      return false;
  return is_inside;
}

/// A pattern that looks ahead or behind needs an engine that may take endless time: that of Python,
/// with a limit. Few models have one.
bool matches_elsewhere(PluginCall& call, std::string_view text, std::string_view pattern,
                       std::string_view why_not_here) {
  const Program& program = call.context.program();
  constexpr std::string_view marks[] = {"(?=", "(?!", "(?<"};
  const bool looks_around = std::ranges::any_of(
      marks, [&](std::string_view mark) { return pattern.find(mark) != pattern.npos; });
  if (!looks_around || !program.match_elsewhere)
    return call.fail(cat("re.PatternError: ", why_not_here));
  const Result<bool> found = program.match_elsewhere(pattern, text);
  return found ? *found : call.fail(cat("re.PatternError: ", found.error().message));
}

/// Python's `re.match`: it matches from the start, and `$` also stands before a last newline.
bool matches(PluginCall& call, std::string_view text, std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 regex(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!regex.ok())
    return matches_elsewhere(call, text, pattern, regex.error());
  const auto match = [&](std::string_view from) {
    return regex.Match(re2::StringPiece(from.data(), from.size()), 0, from.size(),
                       RE2::ANCHOR_START, nullptr, 0);
  };
  return match(text) || (text.ends_with('\n') && match(text.substr(0, text.size() - 1)));
}

bool is_constrained_text(PluginCall& call, const Datum& value) {
  if (value.tag != Tag::text)
    return false;
  int64_t points = 0;
  for (const char c : value.view())
    points += (c & 0xC0) != 0x80;
  for (const DictEntry& entry : parameters_of(call)) {
    const std::string_view name = entry.key->view;
    const bool is_length = name == "min_length" || name == "max_length";
    if (is_length && entry.value.tag == Tag::integer) {
      if (name == "min_length" ? points < entry.value.integer : points > entry.value.integer)
        return false;
    } else if ((name == "regex" || name == "pattern") && entry.value.tag == Tag::text) {
      if (!matches(call, value.view(), entry.value.view()))
        return false;
    } else if (!is_length && name != "strict" && name != "strip_whitespace" && name != "to_lower" &&
               name != "to_upper" && name != "regex" && name != "pattern") {
      return call.fail(cat("TypeError: constr() got an unexpected keyword argument '", name, "'"));
    }
  }
  return true;
}

template <bool (*read)(std::string_view)>
bool is_text_form(PluginCall&, const Datum& value) {
  return value.tag == Tag::text && read(value.view());
}

/// Pydantic takes numbers for seconds (since 1970, or since midnight).
template <bool (*read)(std::string_view)>
bool is_moment(PluginCall&, const Datum& value) {
  return value.tag == Tag::text       ? read(value.view())
         : value.tag == Tag::integer  ? read(std::to_string(value.integer))
         : value.tag == Tag::floating ? read(std::to_string(value.floating))
                                      : false;
}
bool is_time_of_day(PluginCall& call, const Datum& value) {
  constexpr double day = 86'400;
  if (value.tag != Tag::integer && value.tag != Tag::floating)
    return is_text_form<is_time>(call, value);
  const double seconds =
      value.tag == Tag::integer ? static_cast<double>(value.integer) : value.floating;
  return seconds >= 0 && seconds < day;
}

/// Python also turns a number into an address.
template <bool (*read)(std::string_view), int bits>
bool is_address_form(PluginCall&, const Datum& value) {
  constexpr std::string_view end = "340282366920938463463374607431768211456";  // 2^128
  if (value.tag == Tag::boolean)
    return true;
  if (value.tag == Tag::integer)
    return value.integer >= 0 && (bits != 32 || value.integer < int64_t{1} << 32);
  if (value.tag == Tag::large)
    return bits != 32 && !value.view().starts_with('-') &&
           (value.view().size() < end.size() ||
            (value.view().size() == end.size() && value.view() < end));
  return value.tag == Tag::text && read(value.view());
}

template <int sign, bool is_whole, bool allows_zero = false>
bool is_signed(PluginCall&, const Datum& value) {
  const std::optional<double> number = is_whole ? read_whole(value) : read_number(value);
  return number && (*number * sign > 0 || (allows_zero && *number == 0));
}

template <Tag tag>
bool is_strictly(PluginCall&, const Datum& value) {
  return value.tag == tag;
}

bool is_strict_int(PluginCall&, const Datum& value) {
  return value.tag == Tag::integer || value.tag == Tag::large;
}

bool is_strict_float(PluginCall&, const Datum& value) {
  return value.is_number() && value.tag != Tag::boolean;
}

const std::unordered_map<std::string_view, Check>& checks() {
  static const std::unordered_map<std::string_view, Check> table{
      {"pydantic.conint", is_constrained_int},
      {"pydantic.confloat", is_constrained_float},
      {"pydantic.condecimal", is_constrained_decimal},
      {"pydantic.constr", is_constrained_text},
      {"pydantic.PositiveInt", is_signed<1, true>},
      {"pydantic.NegativeInt", is_signed<-1, true>},
      {"pydantic.NonNegativeInt", is_signed<1, true, true>},
      {"pydantic.NonPositiveInt", is_signed<-1, true, true>},
      {"pydantic.PositiveFloat", is_signed<1, false>},
      {"pydantic.NegativeFloat", is_signed<-1, false>},
      {"pydantic.NonNegativeFloat", is_signed<1, false, true>},
      {"pydantic.NonPositiveFloat", is_signed<-1, false, true>},
      {"pydantic.StrictInt", is_strict_int},
      {"pydantic.StrictFloat", is_strict_float},
      {"pydantic.StrictBool", is_strictly<Tag::boolean>},
      {"pydantic.StrictStr", is_strictly<Tag::text>},
      {"pydantic.SecretStr", is_strictly<Tag::text>},
      {"pydantic.AnyUrl", is_text_form<is_any_url>},
      {"pydantic.AnyHttpUrl", is_text_form<is_http_url>},
      {"pydantic.HttpUrl", is_text_form<is_http_url>},
      {"pydantic.PostgresDsn", is_text_form<is_postgres_url>},
      {"pydantic.RedisDsn", is_text_form<is_redis_url>},
      {"pydantic.EmailStr", is_text_form<is_email>},
      {"pydantic.NameEmail", is_text_form<is_name_email>},
      {"pydantic.FilePath", is_text_form<is_file_path>},
      {"pydantic.DirectoryPath", is_text_form<is_folder_path>},
      {"pydantic.Json", is_text_form<is_json>},
      {"pydantic.UUID1", is_text_form<is_uuid_version<1>>},
      {"pydantic.UUID3", is_text_form<is_uuid_version<3>>},
      {"pydantic.UUID4", is_text_form<is_uuid_version<4>>},
      {"pydantic.UUID5", is_text_form<is_uuid_version<5>>},
      {"uuid.UUID", is_text_form<is_uuid>},
      {"pydantic.condate", is_moment<is_date>},
      {"pydantic.conbytes", is_constrained_text},
      {"datetime.date", is_moment<is_date>},
      {"datetime.datetime", is_moment<is_date_time>},
      {"datetime.time", is_time_of_day},
      {"ipaddress.IPv4Address", is_address_form<is_address<4>, 32>},
      {"ipaddress.IPv6Address", is_address_form<is_address<6>, 128>},
      {"ipaddress.IPv4Interface", is_address_form<is_interface<4>, 32>},
      {"ipaddress.IPv6Interface", is_address_form<is_interface<6>, 128>},
      {"ipaddress.IPv4Network", is_address_form<is_network<4>, 32>},
      {"ipaddress.IPv6Network", is_address_form<is_network<6>, 128>},
      {"pydantic.IPvAnyAddress", is_address_form<is_address<0>, 128>},
      {"pydantic.IPvAnyInterface", is_address_form<is_interface<0>, 128>},
      {"pydantic.IPvAnyNetwork", is_address_form<is_network<0>, 128>},
  };
  return table;
}

bool validate_type(PluginCall& call) {
  const auto found = checks().find(call.text(0));
  if (call.text(0) == "pydantic.stricturl")
    return call.fail(
        "pydantic.errors.PydanticImportError: `pydantic:stricturl` has been removed in V2.");
  if (found != checks().end()) {
    const bool is_good = found->second(call, call[1]);
    return call.exception.empty() && call.give(Datum::of(is_good));
  }
  const Verdict verdict = check_pydantic(call.text(0), call[1]);
  if (verdict == Verdict::is_no_type) {
    const size_t dot = call.text(0).find('.');
    return call.fail(cat("AttributeError: module '", call.text(0).substr(0, dot),
                         "' has no type of values `", call.text(0).substr(dot + 1), "`"));
  }
  return call.give(Datum::of(verdict == Verdict::fits));
}

constexpr std::array validation_rows{
    PluginRow{"validate_type",
              "(fq_type_name: string, value: any, validation_parameters: dict = null) -> bool",
              validate_type},
};

}  // namespace

std::span<const PluginRow> validation_plugins() { return validation_rows; }

}  // namespace fettle::model
