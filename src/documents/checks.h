#pragma once
/// What is wrong or doubtful, before anything is done.

#include "documents/parts.h"
#include "verbs/check/check.h"
#include "verbs/check/layout.h"

namespace fettle {

/// `success`, `errors` and `warnings` (counts), `checked`, `findings`: errors and warnings of all,
/// each with its place as far as it is known.
Value document_of(const std::vector<CheckResult>& checked);
/// `success`, `changed`, `unchanged` and `failed` (counts), `files`: `path`, `changed`, `error`.
Value document_of(const LayoutSummary& summary);

}  // namespace fettle
