#pragma once
/// How many empty lines stand before a line: two around functions of a file, one around those in
/// blocks, none at the begin of a block, else as many as there were, but no more than that.

#include <vector>

#include "starlark/format/line.h"

namespace fettle::starlark::layout {

class BlankLines {
 public:
  /// Takes the next line, not split yet.
  void add(const Line& line);
  /// For each line that was added.
  const std::vector<int>& before() const { return before_; }

 private:
  /// What later lines ask of one.
  struct Seen {
    int depth = 0;
    bool is_comment = false;
    bool is_definition = false;
    bool opens_block = false;
  };
  static Seen look_at(const Line& line);
  int count(const Line& line, const Seen& seen);
  int before_definition(const Seen& seen, int before);

  std::vector<Seen> lines_;
  std::vector<int> before_;
  std::vector<Seen> definitions_;  ///< that are open
  static constexpr size_t none = ~size_t{0};
  size_t leading_comment_ = none;  ///< the first of the comments that stand directly before
};

}  // namespace fettle::starlark::layout
