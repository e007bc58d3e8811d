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

/// Reads the JSON of answers; of objects perhaps less than all. Called by one at a time.
using JsonReader = std::function<Result<Value>(std::string_view)>;
/// Null: all of it is read.
Result<Value> read_by(const JsonReader& reader, std::string_view json);

class WatchLines {
 public:
  using Take = std::function<void(WatchEvent)>;
  /// `longest`: bytes of a line; a longer one is an error and not a memory that is full.
  explicit WatchLines(size_t longest, JsonReader reader = {})
      : longest_(longest), reader_(std::move(reader)) {}

  /// Hands over the events that are complete. Errors: an `ERROR` event, such as 410 of a version
  /// that is too old, and what is no event at all. Nothing may be fed afterwards.
  ApiResult<void> feed(std::string_view bytes, const Take& take);

 private:
  ApiResult<void> take_line(std::string_view line, const Take& take);

  size_t longest_;
  JsonReader reader_;
  std::string rest_;
};

}  // namespace fettle::kubernetes
