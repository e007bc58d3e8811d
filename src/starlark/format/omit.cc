#include "starlark/format/omit.h"

#include "starlark/format/literals.h"

namespace fettle::starlark::layout {
namespace {

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
  if (body.has_bare_own_comments())
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

}  // namespace fettle::starlark::layout
