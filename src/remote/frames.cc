#include "remote/frames.h"

#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t head_bytes = 5;

/// The compiler misses none here.
bool is_letter_of_frame(char letter) {
  switch (static_cast<FrameType>(letter)) {
    case FrameType::command:
    case FrameType::runs:
    case FrameType::attach:
    case FrameType::cancel:
    case FrameType::content:
    case FrameType::input:
    case FrameType::input_end:
    case FrameType::output_end:
    case FrameType::window_size:
    case FrameType::stop:
    case FrameType::need:
    case FrameType::run:
    case FrameType::output:
    case FrameType::errors:
    case FrameType::raw:
    case FrameType::file:
    case FrameType::file_bytes:
    case FrameType::document:
    case FrameType::end:
    case FrameType::error:
    case FrameType::agent:
    case FrameType::again:
    case FrameType::alive:
    case FrameType::stream_open:
    case FrameType::stream_bytes:
    case FrameType::stream_taken:
    case FrameType::stream_end:
    case FrameType::stream_break:
    case FrameType::act:
      return true;
  }
  return false;
}

}  // namespace

std::string packed(FrameType type, std::string_view payload) {
  std::string bytes;
  bytes.reserve(head_bytes + payload.size());
  bytes += static_cast<char>(type);
  const size_t size = payload.size();
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<unsigned char>(size >> shift & 0xff));
  return bytes.append(payload);
}

void FrameReader::add(std::string_view bytes) {
  if (at_ == bytes_.size()) {
    bytes_.clear();
    at_ = 0;
  } else if (at_ > piece_bytes) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  bytes_.append(bytes);
}

Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view left = std::string_view(bytes_).substr(at_);
  if (left.empty())
    return std::optional<Frame>();
  if (!is_letter_of_frame(left[0]))
    return user_error("the stream has something that is no frame");
  if (left.size() < head_bytes)
    return std::optional<Frame>();
  size_t size = 0;
  for (size_t i = 1; i < head_bytes; ++i)
    size = size << 8 | static_cast<unsigned char>(left[i]);
  if (size > limit_)
    return user_error(cat("a frame of ", size, " bytes is too large; ", limit_, " are allowed"));
  if (left.size() < head_bytes + size)
    return std::optional<Frame>();
  at_ += head_bytes + size;
  return std::optional<Frame>(
      Frame{static_cast<FrameType>(left[0]), std::string(left.substr(head_bytes, size))});
}

}  // namespace fettle
