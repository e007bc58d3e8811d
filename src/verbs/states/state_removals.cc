/// Reports what `--prune` removes as if `absent` had been described for it.

#include <algorithm>

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/state.h"
#include "verbs/states/state_keys.h"
#include "verbs/states/state_results.h"

namespace fettle {
namespace {

/// The tag of a result. A thing that no state has described, such as an image or a container, is
/// known by its kind and name.
StateTag removal_of(const Key& key) {
  StateTag tag = StateTag::parse(key.name).value_or(StateTag{key.kind, key.name});
  tag.function = "absent";
  return tag;
}

/// A command is only forgotten, and what another state has replaced goes with that state.
bool leaves_nothing(const Record& record) {
  const Resource& applied = *record.applied;
  return applied.key.kind == command_kind().name() ||
         read_one<&StateInvocation::settings>(applied.attributes).find("replaced") != nullptr;
}

class Removals {
 public:
  explicit Removals(const StatesRun& of) : of_(of) {
    for (const Failure& failure : of.summary.failures)
      failures_.emplace(failure.key, &failure);
  }

  void tell(const std::vector<const Step*>& steps, bool is_test,
            std::vector<StateResult>& results) const {
    std::vector<StateResult> told;
    for (const Step* step : steps) {
      const auto before = of_.before.find(step->key);
      if ((step->verb != Verb::remove && !step->is_shared) || step->wanted != nullptr ||
          before == of_.before.end() || !before->second->applied || leaves_nothing(*before->second))
        continue;
      told.push_back(result_of(*step, *before->second, is_test));
    }
    std::ranges::sort(told, {}, &StateResult::tag);
    for (StateResult& one : told) {
      one.entry = with(one.entry, "__run_num", static_cast<int64_t>(results.size()) + 1);
      results.push_back(std::move(one));
    }
  }

 private:
  StateResult result_of(const Step& step, const Record& record, bool is_test) const {
    const StateTag tag = removal_of(step.key);
    const Value old_state = state_of(record);
    const Standing standing = of_.run.standing(step.key);
    const bool is_away = !step.is_shared && (is_test || standing == Standing::changed);
    Value comment = step.is_shared ? Value(step.why)
                    : is_test      ? Value("it would be removed: no file describes it any more")
                    : is_away      ? Value("removed: no file describes it any more")
                                   : Value("it was not removed");
    if (const Value said = is_test || !is_away ? Value() : of_.times.said(step.key);
        !said.is_null())
      comment = said;
    if (const auto failure = failures_.find(step.key); failure != failures_.end())
      comment = to_string(failure->second->error);
    else if (!is_away && standing == Standing::blocked)
      comment = step.why.str();
    const bool is_open = standing == Standing::open || standing == Standing::under_way;
    const Value none = Value::dict({});
    StateResult made;
    made.tag = Name(tag.tag());
    made.is_pruned = true;
    made.is_interrupted = !is_test && !step.is_shared && is_open;
    const StateTimes::Times* times = of_.times.find(step.key);
    const bool is_timed = times != nullptr && times->began && times->ended;
    made.entry = Value::dict(
        {{"__id__", tag.id},
         {"changes", is_away ? Value::dict({{"old", old_state}, {"new", none}}) : none},
         {"comment", comment},
         {"esm_tag", tag.memory()},
         {"name", name_of(step.key, record, tag)},
         {"new_state", is_away ? Value() : old_state},
         {"old_state", old_state},
         {"rerun_data", Value()},
         {"result", step.is_shared                   ? Value(true)
                    : is_test || made.is_interrupted ? Value()
                                                     : Value(is_away)},
         {"sls_meta", Value::dict({{"SLS", none}, {"ID_DECS", none}})},
         {"start_time", is_timed ? Value(to_string(*times->began)) : Value()},
         {"tag", made.tag},
         {"total_seconds",
          is_timed ? std::chrono::duration<double>(*times->ended - *times->began).count() : 0.0}});
    return made;
  }

  static Value name_of(const Key& key, const Record& record, const StateTag& tag) {
    const std::string_view name = name_of_state(key, record);
    return name.empty() ? Value(tag.name()) : Value(name);
  }

  /// The state as the run that made it left it.
  static Value state_of(const Record& record) {
    if (record.applied->key.kind != "state")
      return remembered_state(&record);
    return remembered(record.outputs);
  }

  const StatesRun& of_;
  std::unordered_map<Key, const Failure*, KeyHash> failures_;
};

}  // namespace

void add_removals(const StatesRun& of, std::vector<StateResult>& results) {
  std::vector<const Step*> steps;
  for (const auto& [key, record] : of.before)
    if (const Step* step = of.run.step(key))
      steps.push_back(step);
  Removals(of).tell(steps, false, results);
}

void add_looks_of_removals(const StatesRun& of, const Plan& plan,
                           std::vector<StateResult>& results) {
  std::vector<const Step*> steps;
  for (const Step& step : plan.steps)
    steps.push_back(&step);
  Removals(of).tell(steps, true, results);
}

}  // namespace fettle
