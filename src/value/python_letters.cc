/// Letters, digits and white space over all of Unicode.

#include <algorithm>
#include <array>

#include <utf8proc.h>

#include "base/text.h"
#include "value/python.h"

namespace fettle::python {
namespace {

/// Superscripts, subscripts and numbers in circles and brackets, of which each shows one digit.
bool is_shaped_digit(utf8proc_int32_t c) {
  constexpr std::array<std::pair<utf8proc_int32_t, utf8proc_int32_t>, 15> spans{{
      {0xB2, 0xB3},
      {0xB9, 0xB9},
      {0x1369, 0x1371},
      {0x2070, 0x2070},
      {0x2074, 0x2079},
      {0x2080, 0x2089},
      {0x2460, 0x2468},
      {0x2474, 0x247C},
      {0x2488, 0x2490},
      {0x24EA, 0x24EA},
      {0x24F5, 0x24FD},
      {0x24FF, 0x24FF},
      {0x2776, 0x277E},
      {0x2780, 0x2788},
      {0x278A, 0x2792},
  }};
  return std::any_of(spans.begin(), spans.end(),
                     [&](const auto& span) { return c >= span.first && c <= span.second; });
}

/// The ideographs that are numbers; Unicode counts them as letters.
bool is_number_ideograph(utf8proc_int32_t c) {
  constexpr std::u32string_view numbers =
      U"〇一七万三九二五亖亿什仟仨伍佰億兆八六十千卄卅卌参參叁叄四壱壹廾弌弍弎弐拾捌柒漆玖百肆萬貳"
      U"贰阡陆陌陸零";
  return numbers.find(static_cast<char32_t>(c)) != numbers.npos;
}

bool is_of(utf8proc_int32_t c, Letters kind) {
  const utf8proc_category_t category = utf8proc_category(c);
  const bool is_alpha = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
  const bool is_decimal = category == UTF8PROC_CATEGORY_ND;
  switch (kind) {
    case Letters::alpha:
      return is_alpha;
    case Letters::decimal:
      return is_decimal;
    case Letters::digit:
      return is_decimal || is_shaped_digit(c);
    case Letters::numeric:
      return (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) ||
             is_number_ideograph(c);
    case Letters::alnum:
      return is_alpha || is_of(c, Letters::numeric);
    case Letters::space:
      return (c >= 9 && c <= 13) || (c >= 28 && c <= 31) || c == 0x85 ||
             (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
  }
  return false;
}

utf8proc_int32_t code_of(std::string_view point) {
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(point.data());
  const utf8proc_ssize_t length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(point.size()), &code);
  return length <= 0 ? -1 : code;
}

std::string mapped(std::string_view text, utf8proc_int32_t (*map)(utf8proc_int32_t),
                   bool is_upper) {
  std::string made;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t point = 0;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    if (length <= 0) {
      made.push_back(text[at++]);
      continue;
    }
    constexpr utf8proc_int32_t sharp_s = 0xDF;
    if (is_upper && point == sharp_s)
      made += "SS";
    else
      append_utf8(made, static_cast<uint32_t>(map(point)));
    at += static_cast<size_t>(length);
  }
  return made;
}

}  // namespace

std::string upper(std::string_view text) { return mapped(text, utf8proc_toupper, true); }
std::string lower(std::string_view text) { return mapped(text, utf8proc_tolower, false); }

bool is_all(std::string_view text, Letters kind) {
  const Points points = points_of(text);
  return !points.empty() && std::all_of(points.begin(), points.end(), [&](std::string_view point) {
    return is_of(code_of(point), kind);
  });
}

bool is_identifier(std::string_view text) {
  bool is_first = true;
  for (const std::string_view point : points_of(text)) {
    const utf8proc_int32_t code = code_of(point);
    const utf8proc_category_t category = utf8proc_category(code);
    const bool may_begin =
        code == '_' || is_of(code, Letters::alpha) || category == UTF8PROC_CATEGORY_NL;
    const bool may_follow = may_begin || is_of(code, Letters::decimal) ||
                            category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
                            category == UTF8PROC_CATEGORY_PC;
    if (!(std::exchange(is_first, false) ? may_begin : may_follow))
      return false;
  }
  return !is_first;
}

}  // namespace fettle::python
