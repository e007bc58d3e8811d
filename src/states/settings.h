#pragma once
/// Settings around the call of a state: guards, tries, waits, secrets. They are read from its
/// global arguments, and checked.

#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "states/catalogue.h"
#include "states/high.h"

namespace fettle::states {

/// Idem's `__reconcile_wait__`: the pause before a state is tried again.
struct WaitRule {
  enum class Algorithm : uint8_t { fixed, random, exponential };
  enum class Jitter : uint8_t { none, full, equal, decorrelated };
  Algorithm algorithm = Algorithm::fixed;
  double seconds = 3;         ///< `wait_in_seconds`
  double multiplier = 1;      ///< of `exponential`
  int64_t shortest = 0;       ///< `min_value` of `random`, in seconds
  int64_t longest = 0;        ///< `max_value`, included
  std::optional<double> cap;  ///< the longest wait; an extension
  Jitter jitter = Jitter::none;
  bool operator==(const WaitRule&) const = default;
};

struct Retry {
  int64_t attempts = 2;
  bool until = true;     ///< the result that ends it
  double interval = 30;  ///< seconds
  double splay = 0;      ///< at most this many seconds more
};

struct Settings {
  std::vector<Name> sensitive;                   ///< parameters
  std::vector<Name> ignore_changes;              ///< paths such as `a:b[*]:c`
  std::vector<Name> unset;                       ///< parameters
  std::vector<Value> unless, onlyif, check_cmd;  ///< commands, perhaps with references
  std::optional<bool> create_before_destroy;     ///< of `recreate_on_update`; none: not asked for
  bool recreate_if_deleted = false;
  bool failhard = false;
  std::optional<Retry> retry;
  std::optional<WaitRule> wait;
  Value own_wait;  ///< a user's: `{NAME: {…}}`; null: none
  std::optional<Duration> attempt, deadline;
  Name acct_profile;
};

/// Reads seconds from a plugin. Errors: the value is no number, or cannot be a time to wait.
Result<Duration> read_seconds(const Value& value);

/// Reads the wait of a module or a state. Errors: an unknown algorithm, or parameters that are
/// missing, wrong or superfluous.
Result<WaitRule> read_wait(const Value& wait);

/// Whether a wait is a user's: `{NAME: {…}}`. Errors: it is, and cannot be used.
Result<bool> is_own_wait(const Value& wait, const Waits& own);

/// Takes out the settings; null: there are none. Faults are reported. `own_waits`: the names of
/// users' waits.
std::unique_ptr<Settings> read_settings(std::span<const Argument> arguments, TreeValues& values,
                                        const Waits& own_waits, Report& report);

}  // namespace fettle::states
