#pragma once
/// What becomes of an act whose write the server did not take, or that has to wait before it writes.
///
/// A run goes on for as long as one of its acts waits, and holds up others. So an act waits in its
/// run only for what the same run writes. One that waits for something else, such as that its name
/// is free, is skipped: it has a pause of its own, which ends when that has changed.

#include "core/driver.h"
#include "kubernetes/api_error.h"

namespace fettle {

inline constexpr const char* gone_workload = "its workload is there no more";

/// Whether the server would answer the same again.
bool is_refusal(const kubernetes::ApiError& error);

/// A refusal is a failure with the server's words; what has changed meanwhile is looked at again;
/// everything else is an error of the world.
Result<Outcome> outcome_of(const kubernetes::ApiError& error);

/// For something that the same run writes. If that takes long, the act is left for another try.
Outcome wait_for_write(const Act& act, std::string what);

}  // namespace fettle
