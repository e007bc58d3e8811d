#pragma once
/// An HTTP request to a port of a service. Its need of the service is `Bond::inside`.

#include "kinds/recipe.h"

namespace fettle {

/// Kurtosis: 200 to 208 and 226.
Value usual_codes();

struct ServiceRequest {
  Hole<Name> service;
  Recipe recipe;
  List acceptable_codes = usual_codes();
  Hole<bool> skip_code_check;
  static const Members& members();
};

}  // namespace fettle
