#pragma once
/// A pod as kubectl shows one: the document, and the few words of its row in a table.

#include "core/record.h"

namespace fettle {

/// `seen`: what was observed of it; null: nobody could look. A container that is not there yet
/// stands in the status as one that waits.
Value pod_document(const Key& key, const Record& record, const Observation* seen);

struct PodRowText {
  std::string ready;   ///< `1/2`
  std::string status;  ///< `Running`, `Init:CrashLoopBackOff`, …
  int64_t restarts = 0;
};
PodRowText pod_row_text(const Value& document);

}  // namespace fettle
