#pragma once
/// A call of a state function: it looks and acts in one call, says whether it changed anything, and
/// is made in every run.

#include "kinds/members.h"

namespace fettle {

struct StateInvocation {
  Hole<Name> state, function, id, name;
  Value arguments = Value::dict({});
  Dict settings;
  Hole<Name> failure;
  static const Members& members();
};

/// The parts of a call that a removal needs and cannot take from the wish, where they may have been
/// references.
struct CalledAs {
  Value name, resource_id;
  static const Members& members();
};

/// The first six are the function's result; users' modules may leave some out.
struct StateOutputs {
  Value new_state, old_state, changes, result, comment, rerun_data;
  Value memory;  ///< the memory, if it is not the new state; else null
  CalledAs called;
  bool is_held = false;  ///< its conditions kept it from being called
  List replaced, removed;
  static const Members& members();
};

/// What is remembered of it.
Value remembered(const Outputs& outputs);

/// Whether the function said that its result is not known. One that said nothing about it did not.
bool has_unknown_result(const Outputs& outputs);

}  // namespace fettle
