#pragma once
/// Calls the functions of states, and does what is to be done around a call: guards, tries, checks,
/// ignored and dropped values, secrets. The answer of a function becomes an outcome: settled, or to
/// be called again.

#include <mutex>
#include <unordered_map>

#include "base/process.h"
#include "base/watcher.h"
#include "core/driver.h"
#include "drivers/state/plugin.h"

namespace fettle {

struct StateCall {
  std::string state, function, id, name;
  Name entry{};                       ///< the entry of `names`; empty: there are none
  Value arguments = Value::dict({});  ///< by parameter, without `name`
  Value ignored{};    ///< paths of parameters that are null whatever is known of them; null: none
  Value old_state{};  ///< from memory; null: nothing
  Value rerun_data{};
  Value so_far{};
  bool is_test = false;
  std::string acct_profile{};
  /// Gets what the code prints and logs, line by line; may be empty.
  std::function<void(std::string_view text)> on_log{};
};

struct StateAnswer {
  PluginAnswer::Verdict verdict = PluginAnswer::Verdict::answered;
  Value ret{};        ///< result, comment, old_state, new_state, changes, rerun_data, force_save
  std::string why{};  ///< for verdicts other than an answer
  Value watch{};      ///< of `not_ready`: paths and numbers of processes; null: none
  std::optional<Duration> again{};  ///< it is not done: call again after this pause, with `so_far`
  Value so_far{};
};

/// The counts by which a module may decide whether a result is pending.
struct PendingCounts {
  int64_t alike = 0;  ///< calls in a row with the same result and changes
  int64_t all = 0;    ///< calls after the first one
  int64_t most = 600;

  /// Whether three calls had the same result: nothing moves any more.
  bool is_alike() const { return alike >= 3; }
  bool is_over() const { return all >= most; }
};

/// Whether a result that is no failure asks to be called again: it has `rerun_data`, and something
/// moves. The module's own answer comes first.
bool asks_again(const Value& ret, const PendingCounts& counts);

/// Provides the functions. From any thread.
class StateFunctions {
 public:
  virtual ~StateFunctions() = default;
  /// Errors: the function failed with an exception; the excerpt is its trace.
  virtual Result<StateAnswer> call(const StateCall& call, std::stop_token stop) = 0;
  virtual bool has(std::string_view state, std::string_view function) const = 0;
  /// Whether there is a module of this name.
  virtual bool has_module(std::string_view /*state*/) const { return true; }
  /// Whether nothing is remembered of a module's states.
  virtual bool skips_memory(std::string_view /*state*/) const { return false; }
  /// Whether a call with `is_test` changes nothing; whether one that did not come to an end may be
  /// repeated. Users' modules have to say so.
  virtual bool can_look(std::string_view /*state*/) const { return true; }
  virtual bool can_repeat(std::string_view /*state*/) const { return true; }
  /// Outputs that make no difference between two states (`changes_between`).
  virtual Value computed(std::string_view /*state*/, std::string_view /*function*/) const {
    return {};
  }
  /// A module's own answer whether a result is pending, as long as it has a say: three equal
  /// results that are not True, or the last call, end it (Idem's `reconcile/pending/default.py`).
  /// None: it has no answer.
  virtual Result<std::optional<bool>> is_pending(const std::string& state, const Value& ret,
                                                 const PendingCounts& counts,
                                                 std::stop_token stop) = 0;
  /// The pause before another call by a user's own algorithm. None: the pace of the resource
  /// counts. `own`: the wait that the state asks for itself; null: that of its module. `run_count`:
  /// 0 before the second call.
  virtual Result<std::optional<Duration>> wait(const std::string& /*state*/, const Value& /*own*/,
                                               int /*run_count*/, std::stop_token /*stop*/) {
    return std::optional<Duration>();
  }
  /// Calls an exec function and returns its answer.
  virtual Result<Value> exec(const std::string& path, Value arguments, std::stop_token stop) = 0;
};

struct StateOptions {
  bool calls_again = true;  ///< what has not settled is called again; else all answers are final
  bool looks_where_it_can = false;  ///< nobody asked for a test: a state looks only if it can
  bool remembers = true;            ///< functions get what former runs left
};

/// The data that calls have left for the next ones of this process, in which each pass is an act of
/// its own.
class Reruns {
 public:
  Value of(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = data_.find(key);
    return found == data_.end() ? Value() : found->second;
  }
  void keep(const Key& key, const Value& data) {
    const std::lock_guard lock(mutex_);
    if (data.is_null())
      data_.erase(key);
    else
      data_.insert_or_assign(key, data);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Key, Value, KeyHash> data_;
};

class StateDriver : public Driver {
 public:
  StateDriver(StateFunctions& functions, StateOptions options)
      : functions_(functions), options_(options) {}

  /// States look when they act.
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
  Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) override;
  /// Watches the paths and processes that states which are not ready have named.
  void watch(const Name& environment, const std::function<void(const Key&)>& hint,
             std::stop_token stop) override;

 private:
  StateFunctions& functions_;
  StateOptions options_;
  Watcher watcher_;
  Reruns reruns_;
};

}  // namespace fettle
