#pragma once
/// Files in a database, in pieces, for the contents of a store that several machines share. What is
/// written is there for all of them at once; a name is only changed together with the index of
/// contents that says so.

#include "store/disk.h"
#include "store/sql_blob_index.h"

namespace fettle {

/// The connection is that of the index, so that both write in one transaction.
std::unique_ptr<Disk> make_database_disk(std::shared_ptr<LazyDatabase> database);

}  // namespace fettle
