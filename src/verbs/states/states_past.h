#pragma once
/// The past of files of states when they are compiled: what former runs left, and what this run has
/// done so far, for which some blocks wait.

#include "reconcile/run.h"
#include "states/compile.h"

namespace fettle {

/// The memory of former runs, for requisites.
class KnownMemory : public states::Memory {
 public:
  explicit KnownMemory(const Known& known) : known_(known) {}
  std::vector<Name> find(const Name& state, const Name& target) const override;
  bool has(const Name& state, const Name& id, const Name& parameter) const override;

 private:
  const Known& known_;
};

/// The outcomes of the states of this run so far.
class RunOutcomes : public states::Outcomes {
 public:
  RunOutcomes(const states::CompiledStates& compiled, const std::vector<Key>& keys, const Run& run,
              bool looks)
      : compiled_(compiled), keys_(keys), run_(run), looks_(looks) {}
  bool has_run(std::string_view id) const override;
  std::optional<Value> new_state(std::string_view state, std::string_view id,
                                 std::string_view name) const override;

 private:
  const states::CompiledStates& compiled_;
  const std::vector<Key>& keys_;
  const Run& run_;
  bool looks_;  ///< the run changes nothing
};

}  // namespace fettle
