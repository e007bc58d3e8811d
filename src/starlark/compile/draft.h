#pragma once
/// The unfinished code of a function: what the compiler gathers before it is copied into a `Code`.

#include <algorithm>
#include <vector>

#include "starlark/code/code.h"
#include "starlark/syntax/ast.h"

namespace fettle::starlark {

constexpr int no_register = -1;
constexpr uint32_t most_registers = 60'000;

/// The draft of one function. It is reused, since most functions are small.
struct Draft {
  Code* code = nullptr;
  FunctionNode* node = nullptr;
  bool is_file = false;
  uint32_t serial = 0;
  uint32_t next = 0;  ///< first free register
  uint32_t most = 0;
  std::vector<Instruction> instructions;
  std::vector<Value> constants;
  std::vector<Code*> children;
  std::vector<LoadSite> load_sites;
  std::vector<uint16_t> unset;
  std::vector<LoopRange> loops;
  std::vector<PlaceEntry> places;
  std::vector<Binding*> assigned;  ///< what surely has a value now, in order of assignment
  struct Loop {
    int iterator;  ///< register, or none for `while`
    std::vector<size_t> breaks;
    std::vector<size_t> continues;
    size_t range;  ///< index in `loops`
  };
  std::vector<Loop> running;
  std::vector<CallSite*> sites;
  /// Notes where one instruction replaces several: steps are counted by the length of a body in
  /// plain instructions. `total` counts from the beginning.
  struct StepSaving {
    size_t at;
    int64_t total;
  };
  std::vector<StepSaving> spared;
  bool far_jumps = false;  ///< offsets of 16 bits do not suffice
  bool too_far = false;

  void spare(int64_t count) {
    spared.push_back({instructions.size(), spared_before(~size_t{0}) + count});
  }
  int64_t spared_before(size_t at) const {
    const auto after = std::lower_bound(spared.begin(), spared.end(), at,
                                        [](const StepSaving& s, size_t a) { return s.at < a; });
    return after == spared.begin() ? 0 : std::prev(after)->total;
  }
  /// The length from `at` to here, in plain instructions.
  size_t length_from(size_t at) const {
    return instructions.size() - at + size_t(spared_before(~size_t{0}) - spared_before(at));
  }

  void clear() {
    next = most = 0;
    instructions.clear();
    constants.clear();
    children.clear();
    load_sites.clear();
    unset.clear();
    loops.clear();
    places.clear();
    assigned.clear();
    running.clear();
    sites.clear();
    spared.clear();
    far_jumps = too_far = false;
  }
};

}  // namespace fettle::starlark
