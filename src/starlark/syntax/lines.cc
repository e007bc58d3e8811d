#include "starlark/syntax/lines.h"

#include <algorithm>

namespace fettle::starlark {

void Lines::Mark::pass(char byte) {
  const bool begins_code_point = (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
  column += begins_code_point ? 1 : 0;
  if (byte == '\n') {
    ++line;
    column = 1;
  }
}

Lines::Lines(std::string_view source) : source_(source) {
  Mark mark;
  for (size_t i = 0; i < source.size(); ++i) {
    if (i % apart == 0)
      marks_.push_back(mark);
    mark.pass(source[i]);
  }
  if (source.size() % apart == 0)
    marks_.push_back(mark);
}

std::pair<int, int> Lines::at(uint32_t offset) const {
  const size_t end = std::min<size_t>(offset, source_.size());
  Mark mark = marks_[end / apart];
  for (size_t i = end - end % apart; i < end; ++i)
    mark.pass(source_[i]);
  return {mark.line, mark.column};
}

}  // namespace fettle::starlark
