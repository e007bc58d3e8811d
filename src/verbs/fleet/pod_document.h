#pragma once
/// A pod as kubectl shows it: its document, and the few words of its row in a table.

#include "core/record.h"

namespace fettle {

/// `seen`: the last look at the pod; null: nobody could look. A container that is not there yet
/// appears in the status as waiting.
Value pod_document(const Key& key, const Record& record, const Observation* seen);

struct PodRowText {
  std::string ready;   ///< such as `1/2`
  std::string status;  ///< `Running`, `Init:CrashLoopBackOff`, …
  int64_t restarts = 0;
};
PodRowText pod_row_text(const Value& document);

}  // namespace fettle
