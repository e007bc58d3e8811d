#pragma once
/// What becomes of an act whose write the server did not take.

#include "core/driver.h"
#include "kubernetes/api_error.h"

namespace fettle {

inline constexpr const char* gone_workload = "its workload is there no more";

/// Whether the server would answer the same again.
bool is_refusal(const kubernetes::ApiError& error);

/// A refusal is a failure with the server's words; what has changed meanwhile is looked at again;
/// everything else is an error of the world.
Result<Outcome> outcome_of(const kubernetes::ApiError& error);

}  // namespace fettle
