#pragma once
/// What is recorded of single resources, and orphans.

#include "workplace/orphans.h"
#include "workplace/workplace.h"

namespace fettle {

/// `is_at_work`: somebody acts on the environment just now.
std::string_view state_of(const Record& record, bool is_at_work);
Value record_value(const Workplace& place, const Key& key, const Record& record, bool is_at_work);
/// An orphan as `orphans ls` and `enclave inspect` tell it.
Value orphan_value(const Orphan& orphan);

}  // namespace fettle
