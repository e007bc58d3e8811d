#pragma once
/// Fills in the references of states. They become holes that the outputs of other resources will
/// fill. When everything is undone, memory has the values. `value/value.h` explains what a hole is.

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/record.h"
#include "states/compiled_states.h"

namespace fettle::states {

class Holes {
 public:
  /// `keys`: of each chunk. They must be there when the first reference is asked for. `known` may
  /// be null.
  Holes(const CompiledStates& compiled, const std::vector<Key>& keys, Name environment,
        const Known* known)
      : compiled_(compiled), keys_(keys), environment_(std::move(environment)), known_(known) {}

  /// The value with holes that name the outputs of the resources that the chunks became.
  Value rebound(const Value& value, const Chunk& owner);
  /// The name as written, or as its references say. When a state is undone and these lead nowhere,
  /// its name is the remembered one.
  Value name_of(const Chunk& chunk);
  /// Whether it is to be undone and nobody remembers its name.
  bool has_lost_name(const Chunk& chunk);
  /// The key of a thing that a former run left, which may be of any kind.
  Key remembered_key(const Name& memory) const;

 private:
  std::optional<size_t> chunk_named(const Name& name);
  Output output_of(const Output& hole);
  bool takes_from_memory(const Chunk& owner, const Output& hole);
  Value filled_from_memory(const Value& leaf, const std::vector<Output>& remembered) const;
  Value remembered_name(const Chunk& chunk) const;
  bool is_kept_apart(const Key& key) const;
  const Record* record_of(const Key& key) const;

  const CompiledStates& compiled_;
  const std::vector<Key>& keys_;
  Name environment_;
  const Known* known_;
  std::unordered_map<Name, size_t> by_name_;
};

}  // namespace fettle::states
