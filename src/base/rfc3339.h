#pragma once
/// Moments as Kubernetes writes them, and engines in their answers (RFC 3339).

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace fettle {

/// `2026-11-21T07:30:42Z`, with or without a fraction, in any zone.
Result<Time> read_moment(std::string_view text);
/// With seconds, as in `creationTimestamp`.
std::string write_moment(Time time);
/// With microseconds, as in a Lease.
std::string write_precise_moment(Time time);

}  // namespace fettle
