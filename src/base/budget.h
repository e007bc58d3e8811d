#pragma once
/// Limits a computation on somebody's data: its steps, its bytes, and whether anybody wants it.
///
/// A model, a template or a jq program may come from anybody, and a few lines of it can ask for
/// more than any machine has: ten nested loops, a text that is doubled forty times, a comparison of
/// two values that share their parts forty levels deep. A limit of time alone ends different runs
/// at different places, and too late for memory. A limit of the process kills everything else in
/// it. A check of the result comes when the memory is gone. So code that works on such data asks
/// *before* each part of the work, in steps and in bytes, and the same input is refused at the same
/// place whenever the limits are the same.
///
/// The work is done in many places: text forms, comparison and conversion call one another, and
/// none of them has an argument for a budget. They take that of the computation around them
/// (`Budget::current`), which a `Budget::Scope` sets for its time, on its thread. There is always
/// one: outside of every scope, a budget without limits.
///
///     const Budget::Scope scope(budget);
///     …
///     if (!Budget::current().has_room(text.size() * count))
///       return {};            // the value is of no use, and the computation ends
///
/// A function that is refused need not report it. A refusal stays, so a walk may end with what it
/// has: the next step of the computation is refused, too, and the code that set the scope tells why
/// (`refusal`).
///
/// Invariants:
/// * After a refusal `is_over` holds and `spend` refuses everything, until `begin`. The first
///   reason is the one that is told.
/// * The limits are exact. Whether somebody has cancelled is looked at every 4096 steps.
/// * Bytes count what is held at one time: what is freed is given back. `begin` forgets steps and
///   refusals, not bytes.
/// * One thread works with a budget, except with the one without limits, whose numbers mean
///   nothing. Any thread may cancel.
///
/// Starlark has a budget of its own (`starlark/heap/heap.h`), from which several heaps draw.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace fettle {

class Budget {
 public:
  struct Limits {
    uint64_t steps = 0;  ///< 0: none
    uint64_t bytes = 0;  ///< at a time; 0: none
    const std::atomic<bool>* cancelled = nullptr;
  };
  explicit Budget(const Limits& limits) : limits_(limits) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  bool spend(uint64_t steps) {
    set(steps_, this->steps() + steps);
    return this->steps() < next_look_.load(relaxed) || look();
  }
  bool take(uint64_t bytes) {
    set(bytes_, this->bytes() + bytes);
    return this->bytes() <= most_bytes() || refuse(Refusal::bytes);
  }
  void give_back(uint64_t bytes) { set(bytes_, this->bytes() - std::min(bytes, this->bytes())); }
  /// Whether so many more could be taken; if not that is a refusal.
  bool has_room(uint64_t bytes) {
    return (bytes <= most_bytes() && this->bytes() <= most_bytes() - bytes) ||
           refuse(Refusal::bytes);
  }

  /// Another reason to go no further, such as a value that is nested too deeply.
  bool refuse(std::string why);
  bool is_over() const { return refused_.load(relaxed) != Refusal::nothing; }
  bool is_out_of_memory() const { return refused_.load(relaxed) == Refusal::bytes; }
  /// The first refusal: `it takes more than 1000 steps`.
  std::string refusal() const;
  uint64_t steps() const { return steps_.load(relaxed); }
  uint64_t bytes() const { return bytes_.load(relaxed); }
  const Limits& limits() const { return limits_; }
  /// Another computation begins; what was taken stays taken.
  void begin();

  /// Half of the memory of the machine, at least 2 GB.
  static uint64_t default_bytes();

  static Budget& current();
  /// Makes a budget the current one of this thread.
  class Scope {
   public:
    explicit Scope(Budget& budget);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Budget* const before_;
  };

 private:
  enum class Refusal : uint8_t { nothing, steps, bytes, cancelled, other };
  uint64_t most_bytes() const { return limits_.bytes == 0 ? ~uint64_t{0} : limits_.bytes; }
  bool look();
  bool refuse(Refusal what);

  // One thread works with a budget. The one without limits belongs to all, and its numbers mean
  // nothing.
  static constexpr auto relaxed = std::memory_order_relaxed;
  static void set(std::atomic<uint64_t>& number, uint64_t value) { number.store(value, relaxed); }

  const Limits limits_;
  std::string why_;  ///< the other reason
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> next_look_{0};  ///< in steps
  std::atomic<Refusal> refused_{Refusal::nothing};
};

}  // namespace fettle
