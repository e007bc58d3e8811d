#include "starlark/format/omit.h"

#include <algorithm>
#include <unordered_set>

#include "starlark/format/literals.h"

namespace fettle::starlark::layout {
namespace {

/// A comment of its own needs the parentheses, unless other brackets are around it.
bool has_bare_own_comment(const Line& line) {
  const std::unordered_set<const Part*> tokens(line.parts.begin(), line.parts.end());
  const Part* closing = nullptr;
  for (size_t i = line.parts.size(); i-- > 0;) {
    const Part* const part = line.parts[i];
    if (closing != nullptr && part == closing->opening)
      closing = nullptr;
    if (part->kind == Kind::own_comment && closing == nullptr)
      return true;
    if (closing == nullptr && is_closing(part->kind) && !part->text.empty() &&
        tokens.contains(part->opening))
      closing = part;
  }
  return false;
}

/// The lengths of tokens, up to one that spans lines; `see` may end it by returning false. Whether
/// all were seen.
template <typename See>
bool see_lengths(const Line& line, See see) {
  for (const Part* const part : line.parts) {
    if (part->text.find('\n') != part->text.npos)
      return false;
    if (!see(*part, line.length_of_part(*part)))
      return false;
  }
  return true;
}

/// What follows the brackets at the begin fits behind them.
bool fits_behind_first(const Line& line) {
  const Part* const first = line.parts[0];
  bool is_behind = false;
  int length = 4 * line.depth;
  return see_lengths(line, [&](const Part& part, int size) {
    if (is_closing(part.kind) && part.opening == first)
      is_behind = true;
    if (is_behind) {
      length += size;
      if (length > line_length)
        return false;
      if (is_opening(part.kind))
        is_behind = false;  // it can be split there
    }
    return true;
  });
}

/// What precedes the brackets at the end fits before them, or has brackets of its own.
bool fits_before_last(const Line& line) {
  const Part* const opening = line.parts.back()->opening;
  int length = 4 * line.depth;
  bool has_others = false, fits = false;
  see_lengths(line, [&](const Part& part, int size) {
    length += size;
    if (&part == opening)
      fits = fits || has_others || length <= line_length;
    else if (is_opening(part.kind))
      has_others = true;
    return !fits;
  });
  return fits;
}

}  // namespace

bool can_omit_parentheses(const BracketSplit& split) {
  const Line& body = split.body;
  if (split.opening->kind == Kind::open_paren && split.opening->text.empty() &&
      !split.head.comments_after(split.opening).empty())
    return false;
  if (has_bare_own_comment(body))
    return false;
  const int highest = body.brackets.highest();
  if (highest == 0)
    return true;  // there is nothing to split at
  if (body.brackets.count(highest) > 1)
    return false;
  if (highest == priority::dot)
    return true;
  if (body.parts.size() < 2)
    return false;
  const Part& first = *body.parts[0];
  if (is_opening(first.kind) && !is_closing(body.parts[1]->kind) && fits_behind_first(body))
    return true;
  const Part& last = *body.parts.back();
  const bool is_index = last.kind == Kind::close_bracket &&
                        (last.parent == nullptr || last.parent->kind == Kind::trailer);
  if (!is_closing(last.kind) || is_index)
    return false;
  if (is_opening(body.parts[body.parts.size() - 2]->kind))
    return false;
  return is_multiline_string(&first) || fits_before_last(body);
}

bool is_better_without(const BracketSplit& without, const BracketSplit& with) {
  const std::vector<Part*>& head = with.head.parts;
  if (head.size() < 2 || head[head.size() - 2]->kind != Kind::equal)
    return true;
  const auto targets_end = head.end() - 1;
  if (std::none_of(head.begin(), targets_end, [](Part* part) { return is_bracket(part->kind); }))
    return true;
  if (!is_short_enough(with.head, with.head.text(), line_length - 1))
    return true;
  if (with.head.magic_comma != nullptr)
    return true;
  const auto equals = [](const Line& line) {
    return std::ranges::count(line.parts, Kind::equal, &Part::kind);
  };
  if (equals(with.head) > 1 && equals(with.head) > equals(without.head))
    return false;
  for (size_t i = without.head.parts.size(); i-- > 0;) {
    const Kind kind = without.head.parts[i]->kind;
    if (kind == Kind::equal)
      break;
    if (is_closing(kind))
      return true;
  }
  return equals(without.head) > 0 && is_short_enough(without.head);
}

bool can_be_split(const Line& line) {
  const std::vector<Part*>& parts = line.parts;
  if (parts.size() < 2)
    return false;
  if (parts[0]->kind != Kind::string || parts[1]->kind != Kind::dot)
    return true;
  int calls = 0, dots = 0;
  Kind next = parts.back()->kind;
  for (size_t i = parts.size() - 1; i-- > 0;) {
    const Kind kind = parts[i]->kind;
    if (is_opening(kind)) {
      if (!is_closing(next))
        return false;
      ++calls;
    } else if (kind == Kind::dot) {
      ++dots;
    } else if (kind == Kind::name) {
      if (next != Kind::dot && !is_opening(next))
        return false;
    } else if (!is_closing(kind)) {
      return false;
    }
    if (dots > 1 && calls > 1)
      return false;
  }
  return true;
}

bool is_long_by_subscript_comment(const Line& line) {
  if (line.parts.empty())
    return false;
  int width = 4 * line.depth;
  for (const Part* const part : line.parts) {
    width += (part == line.parts[0] ? 0 : part->spaces) + width_of(part->text);
    if (part->kind != Kind::open_bracket && !line.comments_after(part).empty())
      return false;
  }
  return width <= line_length;
}

}  // namespace fettle::starlark::layout
