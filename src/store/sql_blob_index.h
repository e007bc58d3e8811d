#pragma once
/// The index of contents in a database.

#include <mutex>

#include "store/blobs.h"
#include "store/database.h"

namespace fettle {

/// A database that is opened when it is first needed: most commands need no contents. One thread at
/// a time uses it, which holds `mutex` from before `open` on.
class LazyDatabase {
 public:
  using Connect = std::function<Result<std::unique_ptr<Database>>()>;
  explicit LazyDatabase(Connect connect) : connect_(std::move(connect)) {}
  Result<Database*> open();
  std::recursive_mutex mutex;

 private:
  Connect connect_;
  std::unique_ptr<Database> database_;
};

std::unique_ptr<BlobIndex> make_sql_blob_index(std::shared_ptr<LazyDatabase> database);

}  // namespace fettle
