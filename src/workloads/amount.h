#pragma once
/// A number of pods or nodes: an absolute number, or a share of all.

#include <cstdint>
#include <optional>

#include "value/value.h"

namespace fettle::workloads {

struct Amount {
  int64_t number = 0;
  bool is_percent = false;
  bool operator==(const Amount&) const = default;

  /// The number out of `total`; a share is rounded up or down.
  int64_t of(int64_t total, bool rounds_up) const;
};

inline Amount percent(int64_t number) { return {number, true}; }

/// Reads `3`, `"3"` or `"20%"`. None: it is something else, or less than zero, or more than 32
/// bits.
std::optional<Amount> amount_of(const Value& value);

/// How many pods keep an older revision. With a share below 100 %, at least one pod changes, so
/// that a canary of 1 % of a few pods is one. OpenKruise: `CalculatePartitionReplicas`.
int64_t partition_of(const std::optional<Amount>& partition, int64_t replicas);

}  // namespace fettle::workloads
