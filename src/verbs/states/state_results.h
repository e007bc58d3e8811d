#pragma once
/// The result of each state, in Idem's words.

#include <unordered_map>

#include "states/intent.h"
#include "value/with.h"
#include "verbs/states/states.h"

namespace fettle {

/// Notes when acts begin and end, and what was said about removals.
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
  /// As a comment: a text, or a list of them; null: nothing.
  Value said(const Key& key) const;

 private:
  Audience* other_;
  std::unordered_map<Key, Times, KeyHash> times_;
  std::unordered_map<Key, Value, KeyHash> said_;
};

/// Everything about one run that results are made of.
struct StatesRun {
  const states::Compiled& compiled;
  const std::vector<Key>& keys;  ///< of each chunk
  const Run& run;
  const Summary& summary;
  const Known& before;  ///< what was known when it began
  StateTimes& times;
  const Seen* seen = nullptr;  ///< of a look, which has no run that has seen anything
};

/// Whether a state of something, or what changed of it, says nothing.
bool is_empty_dict(const Value& value);

/// One for each chunk that has a key, in the order in which Idem starts them.
std::vector<StateResult> results_of(const StatesRun& of);

/// The result of a look at each state, for `--test`. `plan`: of what the engine looks at itself.
std::vector<StateResult> results_of_looks(const StatesRun& of, const Plan& plan);

/// The same of what is in no file any more and is removed, by tag, after the results that there
/// are.
void add_removals(const StatesRun& of, std::vector<StateResult>& results);
void add_looks_of_removals(const StatesRun& of, const Plan& plan,
                           std::vector<StateResult>& results);

/// What the outputs of a command are as a new state; those of former versions had one text for both
/// streams.
Value left_by_command(const Outputs& outputs);

/// What a record knows to be there of a thing that the engine has a kind for; null: nothing.
Value remembered_state(const Record* record);

/// Two results of one state as one: the first's beginning, the last's end, all comments once, and
/// the changes between both where states were given, without what is `computed`.
Value merged(const Value& first, const Value& last, const Value& computed = {});

/// The value without keys that hold what nobody may read.
Value with_masked_keys(const Value& value, const Mask& mask);

}  // namespace fettle
