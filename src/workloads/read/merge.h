#pragma once
/// What `apply` makes of three documents, as kubectl does: what was applied last, what is stored,
/// and what is given now. A field that the given one names has its value; one that it does not name
/// stays as it is stored, unless it was applied last, and is gone then. Dicts are merged field by
/// field, lists are taken whole; of kinds that kubectl knows, some lists are merged item by item.

#include <string>
#include <vector>

#include "value/value.h"

namespace fettle::workloads {

/// `applied`: null when nobody knows; then nothing is gone that is not named. A null that is given
/// takes its field away.
Value merged(const Name& kind, const Value& applied, const Value& stored, const Value& given);

/// A field that somebody changed since the last apply, and that is as the manifest says again.
struct TakenBack {
  std::string path;  ///< `spec.replicas`
  Value before;      ///< null: it was not there
  Value after;       ///< null: it is gone
};
std::vector<TakenBack> taken_back(const Value& applied, const Value& stored, const Value& merged);

}  // namespace fettle::workloads
