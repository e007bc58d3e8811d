#pragma once
/// A call of a state function: it looks and acts in one, says whether it changed anything, and is
/// asked in every run.

#include "kinds/members.h"

namespace fettle {

struct StateInvocation {
  Hole<Name> state, function, id, name;
  Value arguments = Value::dict({});
  Dict settings;
  Hole<Name> failure;
  static const Members& members();
};

/// What a removal has to know of a call and cannot tell from what was wanted, where it may have
/// been a reference.
struct CalledAs {
  Value name, resource_id;
  static const Members& members();
};

/// The first six are what the function said; a module of users may leave some out.
struct StateOutputs {
  Value new_state, old_state, changes, result, comment, rerun_data;
  Value memory;  ///< what is remembered, where it is not the new state; else null
  CalledAs called;
  bool is_held = false;  ///< its conditions kept it from being called
  List replaced, removed;
  /// What is remembered of it.
  const Value& remembered() const { return memory.is_null() ? new_state : memory; }
  static const Members& members();
};

/// Whether the function said that its result is not known. One that said nothing about it did not.
bool has_unknown_result(const Outputs& outputs);

}  // namespace fettle
