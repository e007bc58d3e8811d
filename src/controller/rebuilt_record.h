#pragma once
/// Records that are rebuilt from the objects of a cluster, beside those that a run has written.

#include "core/record.h"

namespace fettle {

/// Whether a record says the same as one that was rebuilt from the object.
bool says_the_same(const Record& known, const Record& rebuilt);

/// Whether somebody else has changed what an act has left, or no act has touched.
bool was_changed(const Record& known, const Record& rebuilt);

/// No object says that an act has failed. `failure`: the record of the last act, if that failed;
/// null: it did not.
RecordPointer with_failure(const RecordPointer& rebuilt, const RecordPointer& failure);

}  // namespace fettle
