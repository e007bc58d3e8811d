#pragma once
/// The keys of secrets in a home: `key`, which the home makes and its stores begin with, and in
/// `keys/` those that stores were given later, each in a file with the name of its id. A store says
/// by the id which one it has, so a home may use stores with different keys, and no two files need
/// to change at the same moment when a store gets another one.

#include <optional>
#include <string>

#include "base/file.h"
#include "base/seal.h"
#include "store/database.h"

namespace fettle {

/// Where a home keeps a key that a store was given later.
Path path_of_key(const Path& home, std::string_view id);

/// The id of the key that a store has; none: it has not said.
Result<std::optional<std::string>> key_id_of(Database& database);
/// A transaction in which nobody else writes anything that may be sealed, and after which nobody has
/// a right to act.
Result<Transaction> begin_sealing_anew(Database& database);
/// Within a transaction: what was sealed is sealed with this key from now on, also by `database`.
Status put_key(Database& database, const Seal& seal);

/// The key with this id. None is wanted: the store has not said which, and takes `key`, which is
/// made if it is not there. Errors (`Blame::user`): the home does not have it. `store` is as shown.
Result<Seal> key_of_home(std::string_view store, const Path& home,
                         const std::optional<std::string>& id);

}  // namespace fettle
