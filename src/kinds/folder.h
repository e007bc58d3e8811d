#pragma once
/// A folder on a machine. (A `directory` outlives the services that write it.) A folder that should
/// be absent goes with everything in it.

#include "kinds/owned.h"

namespace fettle {

struct Folder {
  Hole<Name> path;
  Hole<Name> mode = Value(), owner = Value(), group = Value();  ///< null: it does not matter
  Hole<bool> purged;
  static const Members& members();
};

}  // namespace fettle
