#pragma once
/// The store of one machine: an SQLite file in WAL mode with `synchronous=NORMAL`. Whatever was
/// written survives the death of the process. A loss of power may cost the last acts, which are
/// then found by looking.

#include <memory>

#include "store/store.h"
#include "value/mask.h"

namespace fettle {

/// Opens the file, makes it if it is not there, and brings an older one up to date. Errors
/// (`Blame::world`): it cannot be opened, is damaged, or was written by a newer fettle. Values that
/// are marked as secrets are sealed when they are written, and so are texts that hold one of
/// `secrets` by then.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& path,
                                                 std::shared_ptr<const Mask> secrets = nullptr);

}  // namespace fettle
