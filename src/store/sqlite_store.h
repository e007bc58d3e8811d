#pragma once
/// The store of one machine: an SQLite file in WAL mode with `synchronous=NORMAL`. What was written
/// survives the death of the process; a power failure may cost the last acts, which are then found
/// by looking.

#include <memory>

#include "store/store.h"
#include "value/mask.h"

namespace fettle {

/// Opens the file, makes it when it is not there, and brings an older one up to date. Errors
/// (`Blame::world`): it cannot be opened, is damaged, or was written by a newer fettle. What is
/// marked as a secret is sealed, and what holds one of `secrets` at the time when it is written.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path,
                                                 std::shared_ptr<const Mask> secrets = nullptr);

}  // namespace fettle
