#pragma once
/// What a computation on somebody's data may still use: steps, bytes, and whether anybody wants it.
///
/// Whoever works on data asks before each part of the work. A refusal stays: everything asked later
/// is refused, too, so a walk may end with what it has, and the computation fails at its next step.
/// Text forms, comparison and conversion have no argument for it but take that of the computation
/// around them (`Budget::current`), which a `Budget::Scope` sets for its time. There is always one:
/// outside of every scope a budget without limits.

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
    return this->bytes() <= most_bytes() || refuse(Refused::bytes);
  }
  void give_back(uint64_t bytes) { set(bytes_, this->bytes() - std::min(bytes, this->bytes())); }
  /// Whether so many more could be taken; if not that is a refusal.
  bool has_room(uint64_t bytes) {
    return (bytes <= most_bytes() && this->bytes() <= most_bytes() - bytes) ||
           refuse(Refused::bytes);
  }

  /// Another reason to go no further, such as a value that is nested too deeply.
  bool refuse(std::string why);
  bool is_over() const { return refused_.load(relaxed) != Refused::nothing; }
  bool is_out_of_memory() const { return refused_.load(relaxed) == Refused::bytes; }
  /// What was refused first: `it takes more than 1000 steps`.
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
  /// Counts how deep texts of objects are nested, which call one another.
  class Level {
   public:
    static constexpr int deepest = 60;
    Level() : is_ok(++depth <= deepest) {}
    ~Level() { --depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    const bool is_ok;

   private:
    static thread_local int depth;
  };

 private:
  enum class Refused : uint8_t { nothing, steps, bytes, cancelled, other };
  uint64_t most_bytes() const { return limits_.bytes == 0 ? ~uint64_t{0} : limits_.bytes; }
  bool look();
  bool refuse(Refused what);

  // One thread works with a budget; that without limits is everybody's, and its numbers nobody's.
  static constexpr auto relaxed = std::memory_order_relaxed;
  static void set(std::atomic<uint64_t>& number, uint64_t value) { number.store(value, relaxed); }

  const Limits limits_;
  std::string why_;  ///< the other reason
  std::atomic<uint64_t> steps_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> next_look_{0};  ///< in steps
  std::atomic<Refused> refused_{Refused::nothing};
};

}  // namespace fettle
