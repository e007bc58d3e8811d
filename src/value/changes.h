#pragma once
/// The differences between two states of a thing, as Idem's `calculate_changes` has it.

#include "value/value.h"

namespace fettle {

/// `{"old": {…}, "new": {…}}` of the keys that differ, or an empty dict. Both sides are there as
/// soon as one says something. Dicts are followed; of lists only the elements that the other one
/// lacks are told, whatever their order. Numbers are compared as Python does (`1 == 1.0 == True`),
/// and an empty list is an empty dict. What is no dict counts as an empty one.
///
/// `computed`: what makes no difference, by key: all of it (null), or some of what is in it.
Value changes_between(const Value& before, const Value& after, const Value& computed = {});

}  // namespace fettle
