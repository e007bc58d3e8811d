#pragma once
/// The attributes of a call, which tell the driver of states what to do, in the normal form of
/// their kind.

#include <map>

#include "states/holes.h"

namespace fettle::states {

class CallAttributes {
 public:
  CallAttributes(const CompiledStates& compiled, const std::vector<Key>& keys, Holes& holes);

  Value of(size_t chunk) const;
  /// For a call of `test` in place of a chunk, with the settings that concern it.
  Value of_test(const Chunk& chunk, const char* function, std::vector<Entry> settings) const;
  /// For a state that is to be undone and whose name leads nowhere.
  Value of_lost(const Chunk& chunk, bool remembers) const;
  /// The settings around a call that a driver has to know.
  std::vector<Entry> settings(const Chunk& chunk, const Settings& settings) const;
  /// The calls that a chunk watches, with their tags; a result that is not known does not count.
  /// `with_changes`: also the calls whose changes it waits for, since an earlier one may make it
  /// due.
  Value watched_by(const Chunk& chunk, bool with_changes) const;
  /// The chunk that removes what another one has replaced.
  const Chunk* remover_of(size_t chunk) const;

 private:
  Value settings_of(size_t chunk) const;
  Value replaced_of(uint32_t target) const;

  const CompiledStates& compiled_;
  const std::vector<Key>& keys_;
  Holes& holes_;
  std::map<size_t, const Chunk*> removers_;  ///< by the number of the chunk that replaces
  const Value nothing_ = Value::dict({});
};

}  // namespace fettle::states
