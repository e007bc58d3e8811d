#pragma once
/// The result of each state, in Idem's words.

#include <unordered_map>

#include "states/intent.h"
#include "value/with.h"
#include "verbs/states/states.h"

namespace fettle {

/// Notes when acts begin and end, and the messages about removals.
class StateTimes : public Audience {
 public:
  explicit StateTimes(Audience* other) : other_(other) {}
  void event(const Event& event) override;
  void progress(const Key& key, const Progress& progress) override;
  void moved(const Run& run) override;

  struct Times {
    std::optional<Time> began, ended;
  };
  const Times* find(const Key& key) const;
  /// The messages as a comment: a text, or a list of texts; null: none.
  Value said(const Key& key) const;

 private:
  Audience* other_;
  std::unordered_map<Key, Times, KeyHash> times_;
  std::unordered_map<Key, Value, KeyHash> said_;
};

/// Everything about one run from which results are made.
struct StatesRun {
  const states::CompiledStates& compiled;
  const std::vector<Key>& keys;  ///< one of each chunk
  const Run& run;
  const Summary& summary;
  const Known& before;  ///< the records when it began
  StateTimes& times;
  const Seen* seen = nullptr;  ///< by a look, since no run has seen anything
};

/// Whether the value says nothing about a state or its changes.
bool is_empty_dict(const Value& value);

/// The results of all chunks that have a key, in the order in which Idem starts them.
std::vector<StateResult> results_of(const StatesRun& of);

/// The results of looks at all states, for `--test`. `plan`: for what the engine looks at itself.
std::vector<StateResult> results_of_looks(const StatesRun& of, const Plan& plan);

/// Adds the results of states that no file has any more and that are removed, by tag, behind the
/// existing results.
void add_removals(const StatesRun& of, std::vector<StateResult>& results);
void add_looks_of_removals(const StatesRun& of, const Plan& plan,
                           std::vector<StateResult>& results);

/// What the outputs of a command are as a new state; those of former versions had one text for both
/// streams.
Value left_by_command(const Outputs& outputs);

/// What a record says about the present state of a thing that the engine has a kind for. Null:
/// nothing.
Value remembered_state(const Record* record);

/// Joins two results of one state: the beginning of the first, the end of the last, all comments
/// once, and, if states were given, the changes between both without what is `computed`.
Value merged(const Value& first, const Value& last, const Value& computed = {});

/// The value without keys that hold secrets.
Value with_masked_keys(const Value& value, const Mask& mask);

}  // namespace fettle
