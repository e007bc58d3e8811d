#pragma once
/// What would be done, and why: the plan of an intent against what is known and seen. Pure.

#include "plan/decide.h"

namespace fettle {

/// Every resource of the intent and everything that has to go, each with its step, in an order that
/// the needs allow; what goes comes last. The steps borrow from `intent`.
/// Errors (`Blame::user`): see `Graph::build`.
Result<Plan> make_plan(const Intent& intent, const Known& known, const Seen& seen,
                       const Kinds& kinds, PlanOptions options = {});

}  // namespace fettle
