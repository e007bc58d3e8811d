#include "starlark/format/blank_lines.h"

#include <algorithm>
#include <array>

namespace fettle::starlark::layout {

BlankLines::Seen BlankLines::look_at(const Line& line) {
  Seen seen;
  seen.depth = line.depth;
  seen.is_comment = line.is_comment();
  seen.is_definition = line.is_definition();
  seen.opens_block = line.opens_block();
  return seen;
}

void BlankLines::add(const Line& line) {
  const Seen seen = look_at(line);
  const int before = count(line, seen);
  if (seen.is_comment) {
    if (lines_.empty() || leading_comment_ == none || before != 0)
      leading_comment_ = lines_.size();
  } else {
    leading_comment_ = none;
  }
  lines_.push_back(seen);
  before_.push_back(before);
}

int BlankLines::count(const Line& line, const Seen& seen) {
  const Part* const first = line.parts.empty() ? nullptr : line.parts[0];
  int before = first == nullptr ? 0 : std::min(first->newlines, seen.depth == 0 ? 2 : 1);
  bool is_after_definition = false;
  int definition_depth = 0;
  while (!definitions_.empty() && definitions_.back().depth >= seen.depth) {
    is_after_definition = true;
    definition_depth = definitions_.back().depth;
    definitions_.pop_back();
  }
  if (seen.is_definition)
    definitions_.push_back(seen);
  if (lines_.empty())
    return 0;
  if (is_after_definition) {
    constexpr std::array<std::string_view, 3> openers = {"for", "while", "if"};
    const bool continues = definition_depth > 0 && seen.opens_block &&
                           std::ranges::find(openers, first->text) == openers.end();
    before = seen.depth > 0 || continues ? 1 : 2;
  }
  if (seen.is_definition)
    return before_definition(seen, before);
  return lines_.back().opens_block ? 0 : before;
}

int BlankLines::before_definition(const Seen& seen, int before) {
  const Seen& previous = lines_.back();
  if (previous.depth < seen.depth && previous.is_definition)
    return 0;
  size_t comment = none;
  if (previous.is_comment && previous.depth == seen.depth && before == 0) {
    if (leading_comment_ == none || leading_comment_ == 0 ||
        lines_[leading_comment_ - 1].opens_block || before_[leading_comment_] > 1)
      return 0;
    comment = leading_comment_;
  }
  const int lines = seen.depth > 0 ? 1 : 2;
  if (comment == none)
    return lines;
  // The comments belong to the function.
  before_[comment] = std::max(before_[comment], lines);
  return 0;
}

}  // namespace fettle::starlark::layout
