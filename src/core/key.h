#pragma once
/// Names one thing permanently: the same key in two runs is the same thing.

#include <string>

#include "value/name.h"

namespace fettle {

struct Key {
  Name environment;  ///< the isolated world it lives in
  Name kind;         ///< the type of the thing, a `Kind::name()`
  Name name;         ///< unique within environment and kind
  bool operator==(const Key&) const = default;
  auto operator<=>(const Key&) const = default;
};

/// `kind/name`: as people write it; the environment is clear from where they are.
inline std::string to_string(const Key& key) { return key.kind.str() + "/" + key.name.str(); }

struct KeyHash {
  size_t operator()(const Key& key) const {
    return key.name.hash() * 31 + key.kind.hash() * 7 + key.environment.hash();
  }
};

}  // namespace fettle
