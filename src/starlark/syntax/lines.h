#pragma once
/// Lines and columns of offsets in a text. They are computed so that many errors in one long line
/// cost no more than a few.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace fettle::starlark {

class Lines {
 public:
  /// The text must outlive it.
  explicit Lines(std::string_view source);

  /// Line and column count from 1; columns count code points.
  std::pair<int, int> at(uint32_t offset) const;

 private:
  static constexpr size_t apart = 1024;
  struct Mark {
    int line = 1, column = 1;
    /// Moves over a byte.
    void pass(char byte);
  };

  std::string_view source_;
  std::vector<Mark> marks_;  ///< at every offset that `apart` divides
};

}  // namespace fettle::starlark
