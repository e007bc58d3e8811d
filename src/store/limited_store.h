#pragma once
/// A store as somebody may see it who has a right of a server and no more: behind what is decided
/// from the words of a command, it keeps what its code does within the same limits.

#include "store/store.h"

namespace fettle {

struct StoreLimits {
  /// Environments that may be read, changed and made; empty: all.
  std::function<bool(const Name&)> reaches{};
  /// Others are not even listed. Code that acts must see all: it keeps what another environment
  /// wants, too.
  bool hides_others = false;
  bool may_write = true;
};

/// `store` must outlive it. What is refused is an error of the user.
std::unique_ptr<Store> limited_store(Store& store, StoreLimits limits);

}  // namespace fettle
