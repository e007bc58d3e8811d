#pragma once
/// What references of states come to: holes, which outputs of other resources fill, or, where all
/// is undone, what memory says.

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/record.h"
#include "states/compiled.h"

namespace fettle::states {

class Holes {
 public:
  /// `keys`: of each chunk; they have to be there when the first reference is asked for. `known`
  /// may be null.
  Holes(const Compiled& compiled, const std::vector<Key>& keys, Name environment,
        const Known* known)
      : compiled_(compiled), keys_(keys), environment_(std::move(environment)), known_(known) {}

  /// The value with holes that name the outputs of the resources that the chunks became.
  Value rebound(const Value& value, const Chunk& owner);
  /// As written, else as its references say. What is undone is still called as it was when these
  /// lead nowhere.
  Value name_of(const Chunk& chunk);
  /// Whether it is to be undone and nobody remembers how it is called.
  bool has_lost_name(const Chunk& chunk);
  /// The key of something that a former run left, which may be of any kind.
  Key remembered_key(const Name& memory) const;

 private:
  std::optional<size_t> chunk_named(const Name& name);
  Output output_of(const Output& hole);
  bool takes_from_memory(const Chunk& owner, const Output& hole);
  Value filled_from_memory(const Value& leaf, const std::vector<Output>& remembered) const;
  Value remembered_name(const Chunk& chunk) const;
  bool is_kept_apart(const Key& key) const;
  const Record* record_of(const Key& key) const;

  const Compiled& compiled_;
  const std::vector<Key>& keys_;
  Name environment_;
  const Known* known_;
  std::unordered_map<Name, size_t> by_name_;
};

}  // namespace fettle::states
