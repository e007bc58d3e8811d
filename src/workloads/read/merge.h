#pragma once
/// Merges three documents for `apply`, as kubectl does: what was applied last, what is stored, and
/// what is given now.
/// The obvious merge puts the given document over the stored one. Then a field that a user removes
/// from his file would stay for ever. To replace the stored document is wrong, too: it would undo
/// what commands and controllers have changed. So the document that was applied last decides. A
/// field that the given document names has its value. A field that it does not name stays as it is
/// stored, unless the last apply named it: then it is removed.
/// Dicts are merged field by field, and lists are replaced as a whole. In kinds that kubectl knows,
/// some lists are merged item by item.

#include <string>
#include <vector>

#include "value/value.h"

namespace fettle::workloads {

/// `applied`: null if nobody knows; then no unnamed field is removed. A given null removes its
/// field.
Value merged(const Name& kind, const Value& applied, const Value& stored, const Value& given);

/// A field that somebody changed since the last apply, and that is now again as the manifest says.
struct TakenBack {
  std::string path;  ///< `spec.replicas`
  Value before;      ///< null: it was not there
  Value after;       ///< null: it is gone
};
std::vector<TakenBack> taken_back(const Value& applied, const Value& stored, const Value& merged);

}  // namespace fettle::workloads
