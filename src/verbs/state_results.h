#pragma once
/// What became of each state, in Idem's words.

#include <unordered_map>

#include "states/intent.h"
#include "verbs/states.h"

namespace fettle {

/// Notes when acts begin and end, and in which order.
class StateTimes : public Audience {
 public:
  explicit StateTimes(Audience* other) : other_(other) {}
  void event(const Event& event) override;
  void progress(const Key& key, const Progress& progress) override;
  void moved(const Run& run) override;

  struct Times {
    std::optional<Time> began, ended;
    int number = 0;  ///< of those that ended, from 1; 0: it has not
  };
  const Times* find(const Key& key) const;
  int next_number() { return ++numbers_; }

 private:
  Audience* other_;
  std::unordered_map<Key, Times, KeyHash> times_;
  int numbers_ = 0;
};

/// Everything about one run that results are made of.
struct StatesRun {
  const states::Compiled& compiled;
  const std::vector<Key>& keys;  ///< of each chunk
  const Run& run;
  const Summary& summary;
  const Known& before;  ///< what was known when it began
  StateTimes& times;
  const Seen& first;  ///< of paths that nothing was known of
};

/// One for each chunk that has a key, in the order in which they ended.
std::vector<StateResult> results_of(const StatesRun& of);

/// What a look says of each state, for `--test`. `plan`: of what the engine looks at itself.
std::vector<StateResult> results_of_looks(const StatesRun& of, const Plan& plan);

/// The entry with another value at a key.
Value with_entry(const Value& entry, std::string_view key, Value value);

/// Two results of one state as one: the first's beginning, the last's end, all comments once, and
/// the changes between both where states were given.
Value merged(const Value& first, const Value& last);

}  // namespace fettle
