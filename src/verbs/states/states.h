#pragma once
/// Applies files of states as Idem does: compiled, carried out as an intent, reconciled by one of
/// several loops, told as Idem's results.

#include "states/compile.h"
#include "states/intent.h"
#include "verbs/states/state_functions.h"
#include "workplace/edit.h"
#include "workplace/preview.h"

namespace fettle {

struct StatesRequest {
  std::vector<std::string> words{};  ///< files and refs
  states::CompileOptions compile{};  ///< what it points to is filled in here
  states::Files* files = nullptr;    ///< null: those of this machine
  std::string environment{};
  FunctionOptions functions{};
  bool is_test = false;
  std::string reconciler = "fettle";  ///< `fettle`, `basic`, `none`, or one of users
  std::string pending = "default";    ///< of `basic`: `default`, `idem25`, or one of users
  int max_reruns = 600;               ///< of `basic`
  Duration deadline{0};               ///< of the whole run; 0: none
  bool is_fresh = false;              ///< a run that was killed does not go on
  bool prune = false;                 ///< what left the files is removed
  bool remembers = true;              ///< else memory is neither read nor left
  bool waits = true;                  ///< for who has the environment
  int parallelism = 50;
  bool is_serial = false;  ///< one after another, in Idem's order
  /// RunResult out only when a test finds the same due.
  std::optional<KeptPlan> plan{};
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
  /// Nobody is told: a listener that heard nothing, a remover that had nothing to remove.
  bool is_quiet = false;
  bool is_delayed = false;  ///< it needs a block that was not rendered
  bool is_pruned = false;   ///< no file describes it any more: its `absent`
};

struct StatesReport {
  std::vector<Error> errors;  ///< with any, nothing was done
  std::vector<Error> warnings;
  std::vector<StateResult> results;  ///< in the order in which Idem starts them
  int re_runs = 0;                   ///< iterations of a loop; of `fettle` the most of any state
  bool requires_re_run = false;      ///< something is still pending
  bool is_stopped = false;
  std::string fault;  ///< why the run ended early, if it did
  /// What the run was made of, which takes long to take apart: who ends next need not.
  std::shared_ptr<const void> rest{};

  const StateResult* find(std::string_view tag) const;
  /// Idem's document: the entries by tag.
  Value document() const;
  /// 0: all is so; 1: something failed; 3: nothing did, and something is not known or was left
  /// pending; 130: somebody stopped it; 2: nothing was done.
  int exit_code() const;
};

Result<StatesReport> apply_states(const Workplace& place, StatesRequest request,
                                  Audience* audience);

/// What a test found due, as it is kept in a file. Of each state its result and its changes count.
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
  StatesPlace(const Workplace& place, FunctionOptions options);
  Workplace place_;
  RunFunctions functions_;
  StateDriver driver_;
};

/// What the modules that match a pattern (`cloud.*`) say is there: files of states as data, by ID.
/// Errors: no module describes; one failed, and `is_hard`. What failed otherwise is a warning.
struct Described {
  Value states = Value::dict({});
  std::vector<Error> warnings;
};
Result<Described> describe_states(const Workplace& place, RunFunctions& functions,
                                  const std::string& pattern, bool is_hard);

/// What a JMESPath expression picks of described states. It is asked about a list of `{name, ref,
/// resource}`, as in Idem; where that is what it answers, the answer is states by ID again.
Result<Value> filter_described(const Value& states, const std::string& expression);

/// Remembers states: `{"cloud.vm_|-web_|-web_|-": {…}}`, as Idem keeps its memory. How many there
/// are. Errors (`Blame::user`): a key or value that is none.
Result<size_t> remember_states(const Workplace& place, const std::string& environment,
                               const Value& memory, bool waits);
}  // namespace fettle
