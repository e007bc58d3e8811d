#pragma once
/// A symbolic link on a machine.

#include "kinds/owned.h"

namespace fettle {

struct Link {
  Hole<Name> path, leads_to;
  Hole<bool> purged;
  static const Members& members();
};

}  // namespace fettle
