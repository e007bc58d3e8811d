#pragma once
/// A recipe, again and again, until an assertion about its result holds. It needs the service,
/// inside.

#include "kinds/recipe.h"

namespace fettle {

struct WaitFor {
  Hole<Name> service;
  Recipe recipe;
  Hole<Name> field, assertion;
  Value target;
  Hole<Name> interval = "1s", timeout = "10s";
  Value started;
  static const Members& members();
};

/// Beside what the recipe gave.
struct WaitOutputs {
  int64_t tries = 0;
  Name duration;
  static const Members& members();
};

}  // namespace fettle
