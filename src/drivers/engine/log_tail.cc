#include "drivers/engine/log_tail.h"

#include <algorithm>

namespace fettle {
namespace {

size_t place_of(OutputStream stream) { return stream == OutputStream::out ? 0 : 1; }

}  // namespace

void LastLines::take(OutputStream stream, std::string_view bytes) {
  taken_[place_of(stream)] += bytes.size();
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    append(stream, bytes.substr(0, end));
    bytes.remove_prefix(end);
  }
}

void LastLines::append(OutputStream stream, std::string_view text) {
  std::optional<size_t>& open = open_[place_of(stream)];
  if (!open) {
    open = dropped_ + lines_.size();
    lines_.push_back({stream, {}});
    if (lines_.size() > count_) {
      lines_.pop_front();
      ++dropped_;
    }
  }
  if (*open >= dropped_)
    lines_[*open - dropped_].text += text;
  if (text.ends_with('\n'))
    open.reset();
}

Status LastLines::hand_over(const StreamSink& sink) const {
  for (const Line& line : lines_)
    TRY(sink(line.stream, line.text));
  return {};
}

std::string_view LastLines::without_taken(OutputStream stream, std::string_view bytes) {
  uint64_t& passed_by = passed_by_[place_of(stream)];
  const uint64_t old = std::min<uint64_t>(taken_[place_of(stream)] - passed_by, bytes.size());
  passed_by += old;
  return bytes.substr(old);
}

}  // namespace fettle
