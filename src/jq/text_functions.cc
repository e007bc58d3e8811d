#include <algorithm>

#include "base/budget.h"
#include "base/text.h"
#include "jq/natives.h"

namespace fettle::jq {
namespace {

/// Unicode's white space, as Go has it.
size_t length_of_space(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
    return 1;
  static constexpr std::string_view spaces[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001",
                                                "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                                "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                                "\u2029", "\u202f", "\u205f", "\u3000"};
  for (const std::string_view space : spaces)
    if (text.substr(at).starts_with(space))
      return space.size();
  return 0;
}

std::string_view without_space_before(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t length = length_of_space(text, begin);
    if (length == 0)
      break;
    begin += length;
  }
  return text.substr(begin);
}

std::string_view without_space_behind(std::string_view text) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 3 &&
           (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
      --begin;
    if (length_of_space(text, begin) != text.size() - begin)
      break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string_view without_space(std::string_view text) {
  return without_space_behind(without_space_before(text));
}

struct TrimName {
  std::string_view name;
  std::string_view (*trim)(std::string_view);
};
constexpr TrimName ltrim_row{"ltrim", without_space_before},
    rtrim_row{"rtrim", without_space_behind}, trim_row{"trim", without_space};

template <const TrimName& row>
Answer trimmed(const Json& input, Arguments) {
  if (!input.is_text())
    return not_for(row.name, input);
  return Json::text(std::string(row.trim(input.text())));
}

std::string_view without_prefix(std::string_view text, std::string_view part) {
  return text.starts_with(part) ? text.substr(part.size()) : text;
}
std::string_view without_suffix(std::string_view text, std::string_view part) {
  return text.ends_with(part) ? text.substr(0, text.size() - part.size()) : text;
}
std::string_view without_both(std::string_view text, std::string_view part) {
  return without_suffix(without_prefix(text, part), part);
}

struct CutName {
  std::string_view name;
  std::string_view (*cut)(std::string_view, std::string_view);
};
constexpr CutName ltrimstr_row{"ltrimstr", without_prefix},
    rtrimstr_row{"rtrimstr", without_suffix}, trimstr_row{"trimstr", without_both};

template <const CutName& row>
Answer cut(const Json& input, Arguments given) {
  if (!input.is_text() || !given[0].is_text())
    return not_for(row.name, input, given[0]);
  return Json::text(std::string(row.cut(input.text(), given[0].text())));
}

Answer starts_with(const Json& input, Arguments given) {
  if (!input.is_text() || !given[0].is_text())
    return not_for("startswith", input, given[0]);
  return Json::boolean(input.text().starts_with(given[0].text()));
}
Answer ends_with(const Json& input, Arguments given) {
  if (!input.is_text() || !given[0].is_text())
    return not_for("endswith", input, given[0]);
  return Json::boolean(input.text().ends_with(given[0].text()));
}

Answer down_case(const Json& input, Arguments) {
  return input.is_text() ? Answer(Json::text(lower_case(input.text())))
                         : not_for("ascii_downcase", input);
}
Answer up_case(const Json& input, Arguments) {
  return input.is_text() ? Answer(Json::text(upper_case(input.text())))
                         : not_for("ascii_upcase", input);
}

Answer byte_length(const Json& input, Arguments) {
  if (!input.is_text())
    return not_for("utf8bytelength", input);
  return Json::integer(static_cast<int64_t>(input.text().size()));
}

/// The character at a place. A byte that belongs to none is U+FFFD.
int64_t code_at(std::string_view text, size_t at, size_t length) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1)
    return byte(0) < 0x80 ? byte(0) : 0xFFFD;
  int64_t code = byte(0) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i)
    code = code << 6 | (byte(i) & 0x3F);
  return code;
}

Answer explode(const Json& input, Arguments) {
  if (!input.is_text())
    return not_for("explode", input);
  const std::string& text = input.text();
  if (!Budget::current().has_room(text.size() * sizeof(Json)))
    return Json();
  Json::List codes;
  for (size_t at = 0; at < text.size();) {
    const size_t length = length_of_character(text, at);
    codes.push_back(Json::integer(code_at(text, at, length)));
    at += length;
  }
  return Json::list(std::move(codes));
}

Answer implode(const Json& input, Arguments) {
  if (!input.is_list())
    return not_for("implode", input);
  constexpr int64_t last = 0x10FFFF, replacement = 0xFFFD;
  std::string text;
  for (const Json& item : input.items()) {
    const std::optional<int64_t> code = to_integer(item);
    if (!code)
      return not_for("implode", input);
    append_utf8(text, static_cast<uint32_t>(*code >= 0 && *code <= last ? *code : replacement));
  }
  return Json::text(std::move(text));
}

}  // namespace

std::span<const Native> text_functions() {
  static const Native table[] = {
      {"ascii_downcase", 0, down_case},
      {"ascii_upcase", 0, up_case},
      {"endswith", 1, ends_with},
      {"explode", 0, explode},
      {"implode", 0, implode},
      {"ltrim", 0, trimmed<ltrim_row>},
      {"ltrimstr", 1, cut<ltrimstr_row>},
      {"rtrim", 0, trimmed<rtrim_row>},
      {"rtrimstr", 1, cut<rtrimstr_row>},
      {"startswith", 1, starts_with},
      {"trim", 0, trimmed<trim_row>},
      {"trimstr", 1, cut<trimstr_row>},
      {"utf8bytelength", 0, byte_length},
  };
  return table;
}

}  // namespace fettle::jq
