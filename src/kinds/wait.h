#pragma once
/// A recipe that is repeated until an assertion about its result holds. Its need of the service is
/// `Bond::inside`.

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

/// In addition to the outputs of the recipe.
struct WaitOutputs {
  int64_t tries = 0;
  Name duration;
  static const Members& members();
};

}  // namespace fettle
