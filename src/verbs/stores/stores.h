#pragma once
/// What is done to a store as a whole: it is copied, and it is checked.

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/store_opening.h"

namespace fettle {

struct StoreTally {
  std::string store;  ///< as it is shown
  size_t environments = 0, records = 0, events = 0, versions = 0, contents = 0;
  std::vector<std::string> problems;  ///< of a check; of a copy: contents that were lost before
};

/// Copies everything that one store has into another one, which must be empty: with the numbers of
/// events and versions, the contents, and the sealed secrets, so both have the key of the home.
/// Addresses are those of `open_store`. Errors: somebody acts on an environment; the target is not
/// empty (`Blame::user`). Then the tables of the target stay empty.
Result<StoreTally> copy_store(const std::string& from, const std::string& to,
                              const std::string& home, const std::stop_token& stop);

struct KeyRotation {
  std::string store;          ///< as it is shown
  std::string before, after;  ///< the ids of the keys
  std::string key_file;       ///< where the home has the new one; empty: a command gives it
  size_t secrets = 0;         ///< sealed anew
  size_t unreadable = 0;      ///< were sealed with yet another key, and stay as they are
};

/// Seals all secrets of a store with another key: that of a file, or a new one (`file` is empty).
/// The home keeps it before the store has it, in one transaction; the old one stays. Errors:
/// somebody acts on an environment; the file has no key, or that of the store (`Blame::user`).
Result<KeyRotation> rotate_key(const std::string& address, const std::string& home,
                               const std::string& file, const std::stop_token& stop);

/// Reads everything that a store has, and says what cannot be read or is missing, and who needs it.
/// No store is made.
Result<StoreTally> check_store(const std::string& address, const std::string& home,
                               const StoreOpening& opening, const std::stop_token& stop);
inline Result<StoreTally> check_store(const std::string& address, const std::string& home,
                                      const std::stop_token& stop) {
  return check_store(address, home, {.may_make = false}, stop);
}

}  // namespace fettle
