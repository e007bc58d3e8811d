#pragma once
/// The lines of a watch: one JSON object each, cut anywhere into pieces on their way.

#include <functional>
#include <string>
#include <string_view>

#include "kubernetes/api_error.h"

namespace fettle::kubernetes {

struct WatchEvent {
  enum class Type { added, modified, deleted, bookmark };
  Type type = Type::added;
  Value object;  ///< of a bookmark only its resource version, and annotations
};

class WatchLines {
 public:
  using Take = std::function<void(WatchEvent)>;
  /// `longest`: bytes of a line; a longer one is an error and not a memory that is full.
  explicit WatchLines(size_t longest = 64 << 20) : longest_(longest) {}

  /// Hands over the events that are complete. Errors: an `ERROR` event, such as 410 of a version
  /// that is too old, and what is no event at all. Nothing may be fed afterwards.
  ApiResult<void> feed(std::string_view bytes, const Take& take);

 private:
  size_t longest_;
  std::string rest_;
};

}  // namespace fettle::kubernetes
