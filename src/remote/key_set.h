#pragma once
/// The keys with which somebody signs (JWKS, RFC 7517).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/public_key.h"
#include "remote/jwt.h"

namespace fettle {

struct SigningKey {
  std::string name;       ///< its `kid`
  std::string algorithm;  ///< the only one with which it signs; empty: it does not say
  PublicKey key;
};

struct KeySet {
  std::vector<SigningKey> keys;

  bool has(std::string_view name) const;
  /// Why it is not signed by one of them; none: it is.
  std::optional<std::string> fault_of(const Jwt& jwt) const;
};

constexpr size_t largest_key_set = 256 << 10;

/// Keys that are for something else, or of a kind that we do not know, are left out. Errors
/// (`Blame::user`): it is no such set, it has too many keys, or none that signs.
Result<KeySet> read_key_set(std::string_view json);

}  // namespace fettle
