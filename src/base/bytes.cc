#include "base/bytes.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/text.h"

namespace fettle {

ByteSource source_of(std::string bytes) {
  struct State {
    std::string bytes;
    size_t at = 0;
  };
  return [state = std::make_shared<State>(State{std::move(bytes)})](
             std::span<char> into) -> Result<size_t> {
    const size_t count = std::min(into.size(), state->bytes.size() - state->at);
    std::memcpy(into.data(), state->bytes.data() + state->at, count);
    state->at += count;
    return count;
  };
}

ByteSink sink_to(std::string& text, size_t limit) {
  return [&text, limit](std::string_view bytes) -> Status {
    if (bytes.size() > limit - std::min(limit, text.size()))
      return world_error(cat("more than ", limit, " bytes"));
    text += bytes;
    return {};
  };
}

Status pump(const ByteSource& source, const ByteSink& sink) {
  std::vector<char> buffer(128 * 1024);
  while (true) {
    const size_t count = TRY(source(buffer));
    if (count == 0)
      return {};
    TRY(sink({buffer.data(), count}));
  }
}

Result<std::string> read_all(const ByteSource& source, size_t limit) {
  std::string text;
  TRY(pump(source, sink_to(text, limit)));
  return text;
}

}  // namespace fettle
