#include "starlark/format/blank_lines.h"

#include <algorithm>
#include <array>

#include "starlark/format/comments.h"

namespace fettle::starlark::layout {

BlankLines::Seen BlankLines::look_at(const Line& line) {
  Seen seen;
  seen.depth = line.depth;
  seen.is_comment = line.is_comment();
  seen.is_definition = line.is_definition();
  seen.is_doc_string = line.parts.size() == 1 && is_doc_string(line.parts[0]);
  seen.opens_block = line.opens_block();
  seen.is_kept = seen.is_comment && line.parts[0]->rank != 0;
  return seen;
}

void BlankLines::add(const Line& line) {
  const Seen seen = look_at(line);
  int before = count(line, seen);
  if (follows_file_doc(seen))
    before = 1;
  if (seen.is_comment) {
    if (lines_.empty() ||
        ((!lines_.back().is_comment || before != 0) && (leading_comment_ == none || before != 0)))
      leading_comment_ = lines_.size();
  } else {
    leading_comment_ = none;
  }
  lines_.push_back(seen);
  before_.push_back(before);
}

bool BlankLines::follows_file_doc(const Seen& seen) const {
  if (lines_.empty() || !lines_.back().is_doc_string || lines_.back().depth != 0 ||
      seen.is_definition)
    return false;
  return std::all_of(lines_.begin(), lines_.end() - 1,
                     [](const Seen& one) { return one.is_comment; });
}

int BlankLines::count(const Line& line, const Seen& seen) {
  const Part* const first = line.parts.empty() ? nullptr : line.parts[0];
  int before = first == nullptr ? 0 : first->newlines;
  const bool ends_kept = seen.is_comment && !lines_.empty() && lines_.back().is_kept &&
                         wish_of(first->text) == Wish::on;
  if (!seen.is_kept && !ends_kept)
    before = std::min(before, seen.depth == 0 ? 2 : 1);
  const bool had_any = before > 0;
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
  const Seen& previous = lines_.back();
  if (first != nullptr && is_doc_string(first) && previous.opens_block && previous.is_definition)
    return 0;
  if (is_after_definition) {
    constexpr std::array<std::string_view, 3> openers = {"for", "while", "if"};
    const bool continues = definition_depth > 0 && seen.opens_block &&
                           std::ranges::find(openers, first->text) == openers.end();
    before = seen.depth > 0 || continues ? 1 : 2;
  }
  return seen.is_definition ? before_definition(seen, before, had_any) : before;
}

int BlankLines::before_definition(const Seen& seen, int before, bool had_any) {
  const Seen& previous = lines_.back();
  if (previous.depth < seen.depth && previous.is_definition)
    return had_any ? 1 : 0;
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
