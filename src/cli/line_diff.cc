#include "cli/line_diff.h"

#include <algorithm>

#include "base/difference.h"
#include "base/text.h"
#include "cli/print.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_cells = 4'000'000, short_value = 80, most_lines = 200;

std::vector<std::string_view> lines_of(std::string_view text) {
  if (text.ends_with('\n'))
    text.remove_suffix(1);
  return text.empty() ? std::vector<std::string_view>() : split(text, '\n');
}

/// The middle parts, which begin and end differently.
void diff_middle(std::span<const std::string_view> a, std::span<const std::string_view> b,
                 std::vector<DiffLine>& out) {
  size_t i = 0, j = 0;
  if (a.size() * b.size() <= most_cells) {
    // Lengths of the longest common part of what is left.
    const size_t width = b.size() + 1;
    std::vector<uint32_t> common((a.size() + 1) * width, 0);
    for (size_t row = a.size(); row-- > 0;)
      for (size_t column = b.size(); column-- > 0;)
        common[row * width + column] =
            a[row] == b[column]
                ? common[(row + 1) * width + column + 1] + 1
                : std::max(common[(row + 1) * width + column], common[row * width + column + 1]);
    while (i < a.size() && j < b.size())
      if (a[i] == b[j]) {
        out.push_back({' ', a[i++]});
        ++j;
      } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
        out.push_back({'-', a[i++]});
      } else {
        out.push_back({'+', b[j++]});
      }
  }
  for (; i < a.size(); ++i)
    out.push_back({'-', a[i]});
  for (; j < b.size(); ++j)
    out.push_back({'+', b[j]});
}

/// Leaves out what is far from a difference.
std::vector<DiffLine> with_context(const std::vector<DiffLine>& all, size_t context) {
  std::vector<bool> is_near(all.size(), false);
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].mark != ' ')
      for (size_t k = i - std::min(i, context); k < std::min(all.size(), i + context + 1); ++k)
        is_near[k] = true;
  std::vector<DiffLine> shown;
  for (size_t i = 0; i < all.size(); ++i)
    if (is_near[i])
      shown.push_back(all[i]);
    else if (shown.empty() || shown.back().mark != '@')
      shown.push_back({'@', {}});
  return shown;
}

std::string short_json(const Value& value) {
  return clipped(hidden(write_json(value)), short_value);
}

/// `before -> after` in one line.
std::string side_by_side(const Value& before, const Value& after) {
  const auto [old_text, new_text] =
      clipped_at_difference(hidden(write_json(before)), hidden(write_json(after)), short_value);
  return cat(" ", old_text, " -> ", new_text);
}

/// Long values as texts of lines.
std::string text_of(const Value& value) {
  if (value.is_text())
    return hidden(value.text().view());
  return value.is_null() ? std::string() : hidden(write_json(value, {.indent = 2}));
}

bool is_long(const Value& value) {
  if (value.is_text() && value.text().view().find('\n') != std::string_view::npos)
    return true;
  return (value.is_dict() || value.is_list()) && write_json(value).size() > short_value;
}

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after, size_t context) {
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head])
    ++head;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<DiffLine> all;
  for (size_t i = 0; i < head; ++i)
    all.push_back({' ', a[i]});
  diff_middle(std::span(a).subspan(head, a.size() - head - tail),
              std::span(b).subspan(head, b.size() - head - tail), all);
  for (size_t i = a.size() - tail; i < a.size(); ++i)
    all.push_back({' ', a[i]});
  return with_context(all, context);
}

std::string changed_text(const Value& before, const Value& after, std::string_view indent,
                         bool colour) {
  if (!is_long(before) && !is_long(after))
    return side_by_side(before, after);
  const std::string old_text = text_of(before), new_text = text_of(after);
  std::string text;
  size_t shown = 0;
  const std::vector<DiffLine> lines = diff_lines(old_text, new_text);
  for (const DiffLine& line : lines) {
    if (++shown > most_lines)
      return text + cat("\n", indent, "and ", lines.size() - most_lines, " more lines");
    const std::string whole =
        line.mark == '@' ? std::string("…") : cat(std::string(1, line.mark), " ", line.text);
    text += cat("\n", indent,
                line.mark == '-'   ? in(Colour::red, whole, colour)
                : line.mark == '+' ? in(Colour::green, whole, colour)
                                   : whole);
  }
  // Texts that differ in their last newline only.
  return lines.empty() ? side_by_side(before, after) : text;
}

std::string value_text(const Value& value, std::string_view indent) {
  if (!is_long(value))
    return cat(" ", short_json(value));
  std::string text;
  const std::string whole = text_of(value);
  const std::vector<std::string_view> lines = lines_of(whole);
  for (size_t i = 0; i < lines.size() && i < most_lines; ++i)
    text += cat("\n", indent, lines[i]);
  if (lines.size() > most_lines)
    text += cat("\n", indent, "and ", lines.size() - most_lines, " more lines");
  return text;
}

}  // namespace fettle
