#pragma once
/// Start, stop and remove as things that happen to a service within its history. They need the
/// service, inside.

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
