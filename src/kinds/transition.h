#pragma once
/// Start, stop and remove as events in the history of a service. Their need of the service is
/// `Bond::inside`.

#include "kinds/members.h"

namespace fettle {

struct Transition {
  Hole<Name> service;
  static const Members& members();
};

struct TransitionOutputs {
  Name uuid;
  static const Members& members();
};

}  // namespace fettle
