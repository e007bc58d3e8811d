#pragma once
/// What the compiler makes and the machine runs: instructions of 64 bits on registers. Locals are
/// registers; a call finds its arguments where the callee's registers begin.
///
/// To add an instruction: a row in `FETTLE_OPS`, its emission by the compiler, its case in run.cc.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "starlark/syntax/arena.h"
#include "starlark/syntax/lines.h"
#include "starlark/values/objects.h"

namespace fettle::starlark {

// R: register, K: constant, S: small integer in the instruction, +: a word follows.
// clang-format off
#define FETTLE_OPS(X)                                                                             \
  /* Values into registers */                                                                     \
  X(move)                         /* a ← R b */                                                   \
  X(load_const)                   /* a ← K bc */                                                  \
  X(load_small)                   /* a ← S bc */                                                  \
  X(load_global)                  /* a ← global bc */                                             \
  X(store_global)                 /* global bc ← R a */                                           \
  X(load_cell)                    /* a ← cell in R b; its name is K c */                          \
  X(store_cell)                   /* cell in R a ← R b */                                         \
  X(load_free)                    /* a ← cell b of the function; its name is K c */               \
  X(new_cell)                     /* R a ← new cell without a value */                            \
  X(check_local)                  /* error that names K bc when R a is unset */                   \
  X(make_function)                /* a ← code + with c defaults from R b */                       \
  /* Operators: a ← op R b, and a ← R b op R c */                                                 \
  X(negate)                                                                                       \
  X(positive)                                                                                     \
  X(invert)                                                                                       \
  X(logical_not)                                                                                  \
  X(add)                                                                                          \
  X(subtract)                                                                                     \
  X(multiply)                                                                                     \
  X(divide)                                                                                       \
  X(floor_divide)                                                                                 \
  X(modulo)                                                                                       \
  X(bit_and)                                                                                      \
  X(bit_or)                                                                                       \
  X(bit_xor)                                                                                      \
  X(shift_left)                                                                                   \
  X(shift_right)                                                                                  \
  X(add_in_place)                 /* as `+=` */                                                   \
  X(or_in_place)                  /* as `|=` */                                                   \
  /* … and a ← R b op S c */                                                                      \
  X(add_small)                                                                                    \
  X(subtract_small)                                                                               \
  X(multiply_small)                                                                               \
  X(floor_divide_small)                                                                           \
  X(modulo_small)                                                                                 \
  /* Comparisons: a ← R b op R c */                                                               \
  X(equal)                                                                                        \
  X(not_equal)                                                                                    \
  X(less)                                                                                         \
  X(less_equal)                                                                                   \
  X(greater)                                                                                      \
  X(greater_equal)                                                                                \
  X(contains)                     /* a ← R b in R c */                                            \
  X(contains_not)                                                                                 \
  /* Jumps */                                                                                     \
  X(jump)                         /* by bc */                                                     \
  X(jump_true)                    /* by bc when R a is */                                         \
  X(jump_false)                                                                                   \
  /* … by c when R a op R b */                                                                    \
  X(jump_equal)                                                                                   \
  X(jump_not_equal)                                                                               \
  X(jump_less)                                                                                    \
  X(jump_not_less)                                                                                \
  X(jump_less_equal)                                                                              \
  X(jump_not_less_equal)                                                                          \
  X(jump_greater)                                                                                 \
  X(jump_not_greater)                                                                             \
  X(jump_greater_equal)                                                                           \
  X(jump_not_greater_equal)                                                                       \
  /* … by c when R a op S b */                                                                    \
  X(jump_equal_small)                                                                             \
  X(jump_not_equal_small)                                                                         \
  X(jump_less_small)                                                                              \
  X(jump_not_less_small)                                                                          \
  X(jump_less_equal_small)                                                                        \
  X(jump_not_less_equal_small)                                                                    \
  X(jump_greater_small)                                                                           \
  X(jump_not_greater_small)                                                                       \
  X(jump_greater_equal_small)                                                                     \
  X(jump_not_greater_equal_small)                                                                 \
  /* Parts of values */                                                                           \
  X(get_index)                    /* a ← R b[R c] */                                              \
  X(set_index)                    /* R a[R b] ← R c */                                            \
  X(get_key)                      /* a ← R b[K c] */                                              \
  X(set_key)                      /* R a[K b] ← R c */                                            \
  X(get_attribute)                /* a ← R b.K +, cache + */                                      \
  X(set_attribute)                /* R a.K + ← R b */                                             \
  X(slice)                        /* a ← R b[R b+1 : R b+2 : R b+3] */                            \
  X(length)                       /* a ← len(R b) */                                              \
  /* Calls; arguments are in the registers behind R a, where the callee's begin */                \
  X(call)                         /* c ← R a(b arguments) */                                      \
  X(check_method)                 /* error when R a has no K +, method row +, cache + */          \
  X(call_method)                  /* c ← R a.K +(b arguments), method row +, cache + */           \
  X(call_method_general)          /* c ← R a.K +(call site +), row +, cache +; without `*` */     \
  X(call_general)                 /* c ← R a(call site +) */                                      \
  X(return_value)                 /* R a */                                                       \
  X(return_none)                                                                                  \
  /* Making values */                                                                             \
  X(make_list)                    /* a ← c items from R b */                                      \
  X(make_tuple)                   /* a ← c items from R b */                                      \
  X(make_dict)                    /* a ← {} with room for bc */                                   \
  X(make_dict_of)                 /* a ← {K +: R b, …} of c entries whose keys differ */          \
  X(append)                       /* R b to the list R a, which no program sees yet */            \
  X(put_new)                      /* R a[R b] ← R c; the key must be new */                       \
  X(put)                          /* R a[R b] ← R c in a dict that no program sees yet */         \
  /* Loops; a loop keeps its state in R a and those behind it */                                  \
  X(iterate)                      /* begin over R b; two registers of state */                    \
  X(next)                         /* b ← next of R a, or jump by +; c steps more */               \
  X(end_iteration)                /* R a */                                                       \
  X(iterate_range)                /* begin over range with c arguments from R b; three registers */\
  X(next_range)                   /* b ← next of R a, or jump by +; c steps more */               \
  X(tick)                         /* count an iteration of `while`; c steps more */               \
  /* Names */                                                                                     \
  X(unpack)                       /* R a … a+c-1 ← items of R b */                                \
  X(load_module)                  /* R a … ← names of load site bc */
// clang-format on

enum class Op : uint16_t {
#define X(name) name,
  FETTLE_OPS(X)
#undef X
};

struct Instruction {
  Op op;
  uint16_t a;
  uint16_t b;
  uint16_t c;
  uint32_t wide() const { return u32(b) | u32(c) << 16; }
};
static_assert(sizeof(Instruction) == 8);

class Heap;
class Module;
struct Code;

/// How the arguments of one call text reach the parameters of one function. The function is known
/// by its id: its code may be gone, and another one stand in its place.
struct Binding8 {
  uint64_t callee;
  bool is_in_place = false;       ///< each named argument is where its parameter is
  uint16_t slots[16];             ///< of each named argument
  std::vector<uint16_t> missing;  ///< parameters that take their default
  Binding8* next;
};

/// A call with named or unpacked arguments.
struct CallSite {
  uint32_t positional = 0;
  uint32_t named = 0;
  bool rest = false;
  bool named_rest = false;
  Value* names = nullptr;
  mutable std::atomic<const Binding8*> cache{nullptr};
};

struct LoadSite {
  std::string_view module;
  std::span<std::string_view> names;
};

/// The place from which a new function takes a cell.
struct Capture {
  bool from_register;  ///< else from the maker's own cells
  uint32_t index;
};

/// A running loop, which has to end if there is an error.
struct LoopRange {
  uint32_t begin;
  uint32_t end;
  uint32_t iterator;
};

struct PlaceEntry {
  uint32_t pc;
  uint32_t at;
};

/// A compiled function body. It never changes, apart from caches that are single words.
struct Code {
  const uint64_t id;  ///< never used again for another one
  std::string_view name;
  uint32_t at = 0;
  ModuleState* module = nullptr;
  std::span<Instruction> instructions;
  std::span<Value> constants;
  std::span<Code*> children;
  std::span<CallSite> call_sites;
  std::span<LoadSite> load_sites;
  std::span<Capture> captures;
  std::span<uint16_t> unset_registers;  ///< to clear when a call begins
  std::span<uint16_t> cell_registers;   ///< parameters to put into cells when a call begins
  std::span<LoopRange> loops;
  std::span<PlaceEntry> places;
  std::span<Value> register_names;  ///< of parameters and locals
  uint32_t registers = 0;
  uint32_t cost = 1;        ///< steps of a call: one, and more for a long body
  uint32_t parameters = 0;  ///< named ones, keyword-only included, without * and **
  uint32_t keyword_only = 0;
  uint32_t defaults = 0;  ///< the last so many parameters (of both sorts) have an entry
  bool has_rest = false;  ///< its register is that after the parameters
  bool has_named_rest = false;
  bool has_prologue = false;
  int32_t simple_arity = -1;  ///< the number of parameters when all are positional
  std::string_view docstring;
  mutable std::atomic<Binding8*> bindings{nullptr};  ///< all that were made for call sites, to free

  /// The place of the instruction before `pc`, in the source.
  uint32_t place_of(uint32_t pc) const;
  uint32_t entry_at = 0;  ///< where an error is told before anything ran
  Code();
  ~Code();
};

/// A file while it runs and afterwards: its code, its globals, its source.
struct ModuleState {
  std::string file;
  std::string source;
  Arena arena;
  Code* main = nullptr;
  std::vector<Code*> codes;
  std::vector<Value> globals;
  std::vector<std::string> global_names;
  std::vector<bool> exported;
  std::vector<std::shared_ptr<const Module>> loaded;
  std::shared_ptr<Heap> heap;
  std::shared_ptr<void> session;  ///< what predeclared values live in
  uint64_t reached = 0;           ///< the last collection of its heap that found it in use
  /// The bytes outside the heap.
  uint64_t bytes() const {
    constexpr uint64_t of_a_global = sizeof(Value) + sizeof(std::string) + 64;  // with its index
    return arena.bytes() + source.capacity() + codes.capacity() * sizeof(Code*) +
           globals.size() * of_a_global;
  }
  bool is_frozen = false;  ///< its values belong to no collection any more
  ModuleState() = default;
  ModuleState(const ModuleState&) = delete;
  ModuleState& operator=(const ModuleState&) = delete;
  ~ModuleState();

  /// The place of an offset in the source. The table of lines is made at the first call, on any
  /// thread.
  Where where(uint32_t at) const;

 private:
  mutable std::once_flag has_lines_;
  mutable std::optional<Lines> lines_;
};

}  // namespace fettle::starlark
