#pragma once
/// Gives equal parts of values one place in memory.
///
/// Ten thousand pods of a workload say the same about their containers, and each is read from a text
/// of its own, so that every key and every limit of it is there ten thousand times. A value that
/// went through here consists of the lists, dicts and texts that others have, as far as they are
/// equal.
///
/// What is met once may never come again, so a part is only held when it is met for the second time.
/// What was not met for a while is forgotten; those who have it keep it. So this itself holds no more
/// than a few thousand parts.

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "value/value.h"

namespace fettle {

class SharedValues {
 public:
  /// `most`: how many parts are remembered, and as many of before.
  explicit SharedValues(size_t most = 20'000) : most_(most) {}

  /// A value that is equal.
  Value shared(const Value& value);

 private:
  struct Hash {
    size_t operator()(const Digest& digest) const { return digest.low; }
  };
  /// None: it was met once.
  using Known = std::unordered_map<Digest, std::optional<Value>, Hash>;

  Value rebuilt(const Value& value);
  Name shared_key(const Name& key);

  const size_t most_;
  Known young_, old_;
  std::unordered_set<Name> keys_;
};

}  // namespace fettle
