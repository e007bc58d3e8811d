#pragma once
/// What the compiler gathers for one function before it is copied into a `Code`.

#include <vector>

#include "starlark/compile/code.h"
#include "starlark/syntax/ast.h"

namespace fettle::starlark {

constexpr int no_register = -1;
constexpr uint32_t most_registers = 60'000;

/// What the compiler gathers for one function. Reused: most functions are small.
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
  bool far_jumps = false;  ///< offsets of 16 bits do not suffice
  bool too_far = false;

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
    far_jumps = too_far = false;
  }
};

}  // namespace fettle::starlark
