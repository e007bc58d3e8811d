#pragma once
/// Something that exists only in a description: it needs no act, and others may need it. A new
/// value counts as a change.

#include "kinds/members.h"

namespace fettle {

struct Mark {
  Value value;
  Hole<bool> fail;
  static const Members& members();
};

}  // namespace fettle
