#pragma once
/// Applies files of states as Idem does: compiles them, carries them out as an intent, reconciles
/// them by one of several loops, and reports Idem's results.

#include "states/compile.h"
#include "states/intent.h"
#include "verbs/states/last_states.h"
#include "verbs/states/state_functions.h"
#include "workplace/edit.h"
#include "workplace/preview.h"

namespace fettle {

class Machine;

struct StatesRequest {
  std::vector<std::string> words{};  ///< files and refs
  states::CompileOptions compile{};  ///< its pointers are filled in here
  states::Files* files = nullptr;    ///< null: those of this machine
  std::string environment{};
  FunctionOptions functions{};
  bool is_test = false;
  std::string reconciler = "fettle";  ///< `fettle`, `basic`, `none`, or a user's
  std::string pending = "default";    ///< for `basic`: `default`, `idem25`, or a user's
  int max_reruns = 600;               ///< for `basic`
  Duration deadline{0};               ///< of the whole run; 0: none
  bool is_fresh = false;              ///< a killed run does not go on
  bool prune = false;                 ///< what left the files is removed
  bool remembers = true;              ///< else memory is neither read nor written
  bool waits = true;                  ///< for whoever has the environment
  int parallelism = 50;
  bool is_serial = false;  ///< one after another, in Idem's order
  /// Carried out only if a test finds the same things due.
  std::optional<KeptPlan> plan{};
  std::optional<LastStates> asked{};  ///< what is remembered of this run, by which it can be tested
};

struct StateResult {
  Name tag;               ///< `StateTag::tag`
  Value entry;            ///< Idem's: result, comment, changes, old_state, new_state, …
  bool is_final = false;  ///< nobody knows what it did, so it is not called again
  bool is_unmet = false;  ///< what it waits for has not come about, so it was not needed
  bool is_held = false;   ///< its own conditions kept it from acting: `unless`, `onlyif`, `creates`
  bool is_pending = false;  ///< it had not settled when the run ended
  int re_runs = 0;          ///< how often it was applied again
  bool is_interrupted = false;
  /// It is not reported: a listener that heard nothing, or a remover that had nothing to remove.
  bool is_quiet = false;
  bool is_delayed = false;  ///< it needs a block that was not rendered
  bool is_pruned = false;   ///< no file describes it any more: its `absent`
};

struct StatesReport {
  std::vector<Error> errors;  ///< if there are any, nothing was done
  std::vector<Error> warnings;
  std::vector<StateResult> results;  ///< in the order in which Idem starts them
  int re_runs = 0;                   ///< iterations of a loop; for `fettle` the most of any state
  bool requires_re_run = false;      ///< something is still pending
  bool is_stopped = false;
  std::string fault;  ///< why the run ended early
  /// What the run was made of, which takes long to destroy: a process that ends anyway need not do
  /// so.
  std::shared_ptr<const void> rest{};

  const StateResult* find(std::string_view tag) const;
  /// Idem's document: the entries by tag.
  Value document() const;
  /// 0: all succeeded; 1: something failed; 3: nothing failed, and something is unknown or pending;
  /// 130: somebody stopped it; 2: nothing was done.
  int exit_code() const;
};

Result<StatesReport> apply_states(const Workplace& place, StatesRequest request,
                                  Audience* audience);

/// What a test found due, for a file. Of each state, the result and the changes count.
Value plan_file_of(const StatesReport& tested, const std::string& environment);
/// The same as 64 hexadecimal digits.
std::string digest_of(const StatesReport& tested);

/// A workplace that can also look at states, with the plugins that the last run of the environment
/// had. They run without credentials: those are kept nowhere.
class StatesPlace {
 public:
  static Result<std::unique_ptr<StatesPlace>> make(const Workplace& place, const Name& environment);
  const Workplace& place() const { return place_; }

 private:
  static constexpr StateOptions calling{.calls_again = false, .looks_where_it_can = true};
  StatesPlace(const Workplace& place, Machine* machine, const FunctionOptions& options);
  Workplace place_;
  RunFunctions functions_;
  StateDriver driver_;
};

/// States that the modules of a pattern (`cloud.*`) describe: files of states as data, by ID.
/// Errors: no module describes anything, or one failed and `is_hard` is set. Other failures are
/// warnings.
struct Description {
  Value states = Value::dict({});
  std::vector<Error> warnings;
};
Result<Description> describe_states(const Workplace& place, RunFunctions& functions,
                                    const std::string& pattern, bool is_hard,
                                    std::stop_token stop = {});

/// The part of described states that a JMESPath expression picks. As in Idem, the expression is
/// applied to a list of `{name, ref, resource}`. If its answer is such a list, the result is states
/// by ID again.
Result<Value> filter_described(const Value& states, const std::string& expression);

/// Remembers states given as `{"cloud.vm_|-web_|-web_|-": {…}}`, as Idem keeps its memory. Returns
/// how many there are. Errors (`Blame::user`): a key or a value is not valid.
Result<size_t> remember_states(const Workplace& place, const std::string& environment,
                               const Value& memory, bool waits);
}  // namespace fettle
