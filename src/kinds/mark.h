#pragma once
/// Something that only stands in a description: there is nothing to be done for it, and others may
/// need it. A new value of one counts as a change.

#include "kinds/members.h"

namespace fettle {

struct Mark {
  Value value;
  Hole<bool> fail;
  static const Members& members();
};

}  // namespace fettle
