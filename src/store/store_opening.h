#pragma once
/// Opens the store that is meant: the file of a home, or a shared one in PostgreSQL.

#include "base/time.h"
#include "store/blobs.h"
#include "store/database.h"
#include "store/store.h"
#include "value/mask.h"

namespace fettle {

/// A store with its contents.
struct OpenedStore {
  std::unique_ptr<Store> store;
  std::unique_ptr<Disk> disk;
  std::unique_ptr<BlobIndex> index;
  std::string blobs;  ///< the folder of the contents on the disk
  /// Of a shared store: things of an engine that bear its mark belong to all who share it. Else
  /// empty.
  std::string id;
  /// Of a shared store that was made just now: where it is. Else empty.
  std::string made;
};

/// How a shared store is opened.
struct StoreOpening {
  /// It is made if it is not there. Otherwise that is an error (`Blame::user`), which names those
  /// that are.
  bool may_make = true;
  Duration silence = WaitLimits().silence;  ///< of its server, while an answer is expected
};

/// `address`: `postgres://…`; empty: the file of the home. The key of secrets is that of the home in
/// both cases: a shared store refuses (`Blame::user`) a home that has another one.
Result<OpenedStore> open_store(const std::string& address, const std::string& home,
                               std::shared_ptr<const Mask> secrets = nullptr,
                               const StoreOpening& opening = {});

/// The tables of such a store, for what is done to a store as a whole.
Result<std::unique_ptr<Database>> open_database(const std::string& address, const std::string& home,
                                                std::shared_ptr<const Mask> secrets = nullptr,
                                                const StoreOpening& opening = {});

}  // namespace fettle
