#pragma once
/// A command inside a service. Its need of the service is `Bond::inside`.

#include "kinds/recipe.h"

namespace fettle {

struct Exec {
  Hole<Name> service;
  Recipe recipe;
  List acceptable_codes = Value::list({0});
  Hole<bool> skip_code_check;
  static const Members& members();
};

}  // namespace fettle
