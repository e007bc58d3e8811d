#pragma once
/// The store of one machine: an SQLite file in WAL mode with `synchronous=NORMAL`. Everything
/// written survives the death of the process. A power loss may cost the records of the last acts,
/// which are then found by looking.

#include <memory>

#include "store/store.h"
#include "value/mask.h"

namespace fettle {

/// Opens the file, creates it if it does not exist, and brings an older one up to date. Errors
/// (`Blame::world`): it cannot be opened, is damaged, or was written by a newer fettle. Values that
/// are marked as secrets are sealed when they are written, and so are strings that contain one of
/// `secrets` at that time.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path,
                                                 std::shared_ptr<const Mask> secrets = nullptr);

}  // namespace fettle
