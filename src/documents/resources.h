#pragma once
/// The records of single resources, and orphans, which nobody wants any more and which still exist.

#include "documents/parts.h"
#include "workplace/orphans.h"

namespace fettle {

/// A record as `show` tells it: `key`, `attributes` (as they may be told), `outputs`, `needs`,
/// `done`, `attempt`, `incarnation`, `origin`, `wanted_by`. `is_at_work`: somebody acts on the
/// environment just now.
Value value_of(const Workplace& place, const Key& key, const Record& record, bool is_at_work);

/// An orphan as `orphans ls` and `enclave inspect` tell it.
Value value_of(const Orphan& orphan);
/// What became of orphans that had to go, and who keeps the others: a list of `key`, `fate`,
/// `used_by`, `why`. `known` is as the removal left it.
Value document_of(const Name& environment, const ChosenOrphans& chosen, const Known& known);

}  // namespace fettle
