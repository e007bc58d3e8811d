#include "server/log_position.h"

#include <charconv>

#include "base/text.h"

namespace fettle {
namespace {

/// How much older than the newest line one may be that comes after it.
constexpr Duration most_out_of_order = 2s;

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr int64_t most = INT64_MAX / 4;  // sums stay far from the end
  if (failure != std::errc() || end != text.data() + text.size() || number < 0 || number > most)
    return std::nullopt;
  return number;
}

}  // namespace

LogPosition::LogPosition(Time begin)
    : anchor_(std::max(begin - most_out_of_order, Time())), newest_(begin), begin_(begin) {}

Result<LogPosition> LogPosition::read(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() == 3)
    if (const auto anchor = number_in(parts[0]), count = number_in(parts[1]),
        newest = number_in(parts[2]);
        anchor && count && newest) {
      LogPosition position{Time()};
      position.begin_.reset();
      position.anchor_ = Time(Duration(*anchor));
      position.count_ = position.known_ = static_cast<uint64_t>(*count);
      position.newest_ = Time(Duration(*newest));
      return position;
    }
  return user_error(cat("`", printable(text), "` is no place in a log"));
}

std::string LogPosition::text() const {
  return cat(anchor_.time_since_epoch().count(), ".", count_, ".",
             newest_.time_since_epoch().count());
}

std::string LogPosition::since() const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(anchor_.time_since_epoch()).count();
  return seconds <= 1 ? std::string() : cat(seconds - 1, ".000000000");
}

bool LogPosition::take(Time written) {
  if (written < anchor_)
    return false;
  if (begin_ && written < *begin_) {
    ++count_;
    return false;
  }
  begin_.reset();
  if (written > newest_ && known_ > 0) {
    // Not all that was read is still there.
    count_ -= known_;
    known_ = 0;
  }
  if (known_ > 0) {
    --known_;
    return false;
  }
  move_anchor(written);
  return true;
}

void LogPosition::move_anchor(Time written) {
  ++count_;
  if (!next_) {
    next_ = std::max(newest_, written) + 1ns;
    next_count_ = 0;
  } else if (written >= *next_) {
    ++next_count_;
  }
  newest_ = std::max(newest_, written);
  if (newest_ < *next_ + most_out_of_order)
    return;
  anchor_ = *next_;
  count_ = next_count_;
  next_.reset();
}

}  // namespace fettle
