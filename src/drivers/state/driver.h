#pragma once
/// Calls the functions that states are made of, and does what is to be done around a call: guards,
/// tries, checks, what is ignored or given up, secrets. What a function answers becomes an outcome:
/// settled, or to be called again.

#include "base/process.h"
#include "base/watcher.h"
#include "core/driver.h"
#include "drivers/state/plugin.h"

namespace fettle {

struct StateCall {
  std::string state, function, id, name;
  Value arguments = Value::dict({});  ///< by parameter, without `name`
  Value old_state{};                  ///< what is remembered of it; null: nothing
  Value rerun_data{};
  Value so_far{};
  bool is_test = false;
  std::string acct_profile{};
};

struct StateAnswer {
  PluginAnswer::Verdict verdict = PluginAnswer::Verdict::answered;
  Value ret{};        ///< result, comment, old_state, new_state, changes, rerun_data, force_save
  std::string why{};  ///< of a verdict other than an answer
  Value watch{};      ///< of `not_ready`: paths and numbers of processes; null: none
  std::optional<Duration> again{};  ///< it is not done: call again after so long, with `so_far`
  Value so_far{};
};

/// Who has the functions. From any thread.
class StateFunctions {
 public:
  virtual ~StateFunctions() = default;
  /// Errors: the function failed with an exception; the excerpt is its trace.
  virtual Result<StateAnswer> call(const StateCall& call, std::stop_token stop) = 0;
  virtual bool has(std::string_view state, std::string_view function) const = 0;
  /// What a module says itself about a result; nothing: it says nothing.
  virtual Result<std::optional<bool>> is_pending(const std::string& state, const Value& ret,
                                                 std::stop_token stop) = 0;
  /// The pause of a user's own algorithm before another call; nothing: as the resource's pace says.
  virtual Result<std::optional<Duration>> wait(const std::string& /*state*/, int /*calls*/,
                                               std::stop_token /*stop*/) {
    return std::optional<Duration>();
  }
  /// A call of an exec function: what it returned.
  virtual Result<Value> exec(const std::string& path, Value arguments, std::stop_token stop) = 0;
};

struct StateOptions {
  bool calls_again = true;  ///< what has not settled is called again; else all answers are final
  bool remembers = true;    ///< functions are told what former runs left
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
  /// Of the paths and processes that states which are not ready have named.
  void watch(const Name& environment, const std::function<void(const Key&)>& hint,
             std::stop_token stop) override;

 private:
  StateFunctions& functions_;
  StateOptions options_;
  Watcher watcher_;
};

}  // namespace fettle
