#pragma once
/// An assertion about a value that is known only at run time.

#include "kinds/members.h"

namespace fettle {

struct Verify {
  Value value;
  Hole<Name> assertion;
  Value target;
  static const Members& members();
};

struct VerifyOutputs {
  Value value;
  static const Members& members();
};

}  // namespace fettle
