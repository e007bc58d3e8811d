#pragma once
/// The tables of the store of one machine, without what reads and writes them.

#include "store/database.h"

namespace fettle {

/// As `open_sqlite_store`.
Result<std::unique_ptr<Database>> open_sqlite_database(
    const std::string& path, std::shared_ptr<const Mask> secrets = nullptr);

}  // namespace fettle
