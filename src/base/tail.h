#pragma once
/// Keeps the last bytes of what a program writes, so that an error can show its last lines.

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace fettle {

class Tail {
 public:
  explicit Tail(size_t most_bytes = 8 * 1024) : most_bytes_(most_bytes) {}
  void add(std::string_view bytes);
  /// The last whole lines, broken UTF-8 replaced.
  std::string lines(size_t most = 10) const;
  ByteSink sink() {
    return [this](std::string_view bytes) -> Status {
      add(bytes);
      return {};
    };
  }

 private:
  size_t most_bytes_;
  std::string kept_;
};

}  // namespace fettle
