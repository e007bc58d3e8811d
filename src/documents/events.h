#pragma once
/// What happened, and why.

#include "core/event.h"
#include "verbs/environments/explain.h"
#include "verbs/fleet/workload_why.h"

namespace fettle {

/// The key and verb of an event as documents have them; null when it is about the whole run.
std::pair<Value, Value> key_and_verb(const Event& event);
/// `because` for people, `causes` for programs.
Value why_value(const Name& environment, const Key& key, const std::vector<Cause>& causes);
/// The same of a workload, which is told by how it stands.
Value why_value(const Name& environment, const WorkloadWhy& why);

}  // namespace fettle
