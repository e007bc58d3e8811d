#pragma once
/// Errors, and what of a run has failed. Every error has the same envelope, whoever found it, so
/// that a program looks at one place; it has no field for what is known of some errors only.

#include "documents/parts.h"
#include "reconcile/run.h"

namespace fettle {

/// What was being done, or what else is wrong. Errors of names are reported together, and the first
/// of them is the error itself.
std::vector<std::string> trace_of(const Error& error);

/// `message`, `blame`, `file`, `line`, `column`, `trace`; an unknown place is null.
Value value_of(const Error& error);
/// The envelope: `success`, which is false, and `error`.
Value document_of(const Error& error);
/// `key`, `origin`, `error`.
Value value_of(const Failure& failure);

}  // namespace fettle
