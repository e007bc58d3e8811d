#include "starlark/calendar/layout.h"

namespace fettle::starlark {
namespace {

struct Spelling {
  std::string_view text;
  Element element;
};

/// If one begins with another, the longer one comes first.
constexpr Spelling spellings[] = {{"January", Element::month_name},
                                  {"Jan", Element::short_month_name},
                                  {"Monday", Element::day_name},
                                  {"Mon", Element::short_day_name},
                                  {"MST", Element::zone_name},
                                  {"01", Element::zero_month},
                                  {"02", Element::zero_day},
                                  {"03", Element::zero_hour12},
                                  {"04", Element::zero_minute},
                                  {"05", Element::zero_second},
                                  {"06", Element::short_year},
                                  {"002", Element::zero_day_of_year},
                                  {"15", Element::hour},
                                  {"1", Element::month},
                                  {"2006", Element::long_year},
                                  {"2", Element::day},
                                  {"__2", Element::blank_day_of_year},
                                  {"_2", Element::blank_day},
                                  {"3", Element::hour12},
                                  {"4", Element::minute},
                                  {"5", Element::second},
                                  {"PM", Element::upper_noon},
                                  {"pm", Element::lower_noon},
                                  {"-070000", Element::offset},
                                  {"-07:00:00", Element::offset},
                                  {"-0700", Element::offset},
                                  {"-07:00", Element::offset},
                                  {"-07", Element::offset},
                                  {"Z070000", Element::offset},
                                  {"Z07:00:00", Element::offset},
                                  {"Z0700", Element::offset},
                                  {"Z07:00", Element::offset},
                                  {"Z07", Element::offset}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The length of `.000` or `.999` at the start of a text. 0: digits of another kind follow.
size_t length_of_fraction(std::string_view text) {
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',') || (text[1] != '0' && text[1] != '9'))
    return 0;
  size_t end = 1;
  while (end < text.size() && text[end] == text[1])
    ++end;
  return end < text.size() && is_digit(text[end]) ? 0 : end;
}

Spelling spelling_at(std::string_view text) {
  for (const Spelling& each : spellings) {
    if (!text.starts_with(each.text))
      continue;
    // `Janet` and `Month` are words of their own.
    const bool is_name =
        each.element == Element::short_month_name || each.element == Element::short_day_name;
    if (is_name && text.size() > 3 && text[3] >= 'a' && text[3] <= 'z')
      continue;
    return each;
  }
  if (const size_t length = length_of_fraction(text))
    return {text.substr(0, length), Element::fraction};
  return {{}, Element::none};
}

}  // namespace

Piece next_piece(std::string_view layout) {
  constexpr std::string_view beginnings = "JM012345_Pp-Z.,";
  for (size_t i = 0; i < layout.size(); ++i) {
    if (beginnings.find(layout[i]) == std::string_view::npos)
      continue;
    // The line before a year is text: `_2006` is no day and `006`.
    if (layout.substr(i).starts_with("_2006"))
      ++i;
    const Spelling found = spelling_at(layout.substr(i));
    if (found.element != Element::none)
      return {layout.substr(0, i), found.element, layout.substr(i, found.text.size()),
              layout.substr(i + found.text.size())};
  }
  return {layout, Element::none, {}, {}};
}

}  // namespace fettle::starlark
