#pragma once
/// A command that gives the key of a shared store's secrets, instead of a file of the home: what keeps keys (a vault,
/// a manager of passwords) keeps this one, too, and it is on no disk of ours.
///
/// It is called once by a process and for each key. Whatever it prints must be the key that the store
/// names by its id, so a wrong one opens nothing and seals nothing.

#include <optional>
#include <string>
#include <string_view>

#include "base/seal.h"

namespace fettle {

/// The words for a shell. Set once, before a store is opened. Empty: keys are files of the home.
std::string& key_command();

/// The key that `key_command` gives, which has `FETTLE_KEY_ID` in its environment: the id that is
/// wanted, or empty, if a store has none yet. Errors: it fails, gives no key, or (`Blame::user`) another
/// one than `id`. `store` is as shown.
Result<Seal> key_by_command(std::string_view store, const std::optional<std::string>& id);

/// Before a store gets a key: it must be where the command finds it. Error (`Blame::user`): it is not.
Status check_command_gives(std::string_view store, const Seal& key);

}  // namespace fettle
