#include "controller/rebuilt_record.h"

namespace fettle {
namespace {

bool are_alike(const Box<Attempt>& a, const Box<Attempt>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->verb == b->verb && a->failed == b->failed && a->error == b->error));
}

}  // namespace

bool says_the_same(const Record& known, const Record& rebuilt) {
  return known.applied.has_value() == rebuilt.applied.has_value() &&
         are_alike(known.attempt, rebuilt.attempt) &&
         (known.remote_id.empty() || known.remote_id == rebuilt.remote_id) &&
         (!known.applied || known.applied->attributes == rebuilt.applied->attributes);
}

bool was_changed(const Record& known, const Record& rebuilt) {
  return known.applied &&
         (!rebuilt.applied || known.applied->attributes != rebuilt.applied->attributes);
}

RecordPointer with_failure(const RecordPointer& rebuilt, const RecordPointer& failure) {
  if (failure == nullptr || !rebuilt->applied || rebuilt->attempt ||
      rebuilt->applied->attributes == failure->attempt->resource->attributes)
    return rebuilt;
  auto record = std::make_shared<Record>(*rebuilt);
  record->attempt = failure->attempt;
  return record;
}

}  // namespace fettle
