#pragma once
/// Errors, and what of a run has failed.

#include "base/result.h"
#include "reconcile/run.h"
#include "value/value.h"

namespace fettle {

/// What was being done, or what else is wrong: errors of names are told together, and the first of
/// them is the error itself.
std::vector<std::string> trace_of(const Error& error);
/// `message`, `blame`, `file`, `line`, `column`, `trace`; an unknown place is null.
Value error_value(const Error& error);
/// The failures of a run: `key`, `origin`, `error`.
Value failures_value(const Summary& summary);

}  // namespace fettle
