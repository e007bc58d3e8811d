#pragma once
/// What the driver of states is told of a call, in the normal form of its kind.

#include <map>

#include "states/holes.h"

namespace fettle::states {

class CallAttributes {
 public:
  CallAttributes(const Compiled& compiled, const std::vector<Key>& keys, Holes& holes);

  Value of(size_t chunk) const;
  /// Of a call of `test` on behalf of a chunk, with the settings that it is about.
  Value of_test(const Chunk& chunk, const char* function, std::vector<Entry> settings) const;
  /// Of something that is to be undone and whose name leads nowhere.
  Value of_lost(const Chunk& chunk, bool remembers) const;
  /// What a driver has to know of what is to be done around a call.
  std::vector<Entry> settings(const Chunk& chunk, const Settings& settings) const;
  /// The calls that a chunk watches, with their tags: a result that is not known does not do. With
  /// changes, also those whose changes it waits for: an earlier one may let it be called.
  Value watched_by(const Chunk& chunk, bool with_changes) const;
  /// Who removes what a chunk has replaced.
  const Chunk* remover_of(size_t chunk) const;

 private:
  Value settings_of(size_t chunk) const;
  Value replaced_of(uint32_t target) const;

  const Compiled& compiled_;
  const std::vector<Key>& keys_;
  Holes& holes_;
  std::map<size_t, const Chunk*> removers_;  ///< by the chunk that replaces
  const Value nothing_ = Value::dict({});
};

}  // namespace fettle::states
