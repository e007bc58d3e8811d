#pragma once
/// The preview: the steps and their reasons, before anything is done.
///
/// `Run` decides a resource when its needs are settled, so it knows their outcomes. A preview does
/// not. It could leave everything open that depends on an act, and would show only the first
/// resources of a new environment. It could assume one outcome, and would promise something
/// unknown: that a service gets another address when it is replaced, or that it keeps its address.
/// So each decided step gets an assumed standing for those that need it, and two of the standings
/// say that the outcome is open:
///
/// * kept, or only forgotten: `kept`. Those that need it are decided as in a run.
/// * blocked: `blocked`.
/// * created, replaced or run: `anew`. What happens inside it dies with it and runs again.
/// * due in any other way, or perhaps due: `maybe`.
///
/// A resource that would be kept but relies on something `anew` or `maybe` gets the step that it
/// would have if an output changed, marked `Step::maybe`. A run may decide otherwise, since it
/// knows more: an output that comes out as it was keeps those that embed it.

#include "plan/decide.h"

namespace fettle {

/// Every resource of the intent and everything that has to go, each with its step, in an order that
/// the needs allow, removals last. The steps borrow from `intent`. Errors (`Blame::user`): those of
/// `Graph::build`.
Result<Plan> make_plan(const Intent& intent, const Known& known, const Seen& seen,
                       const Kinds& kinds, PlanOptions options = {});

}  // namespace fettle
