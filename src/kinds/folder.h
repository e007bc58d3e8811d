#pragma once
/// A folder of a machine. (`directory` is what outlives the services that write it.) One that is to
/// be away goes with everything in it.

#include "kinds/owned.h"

namespace fettle {

struct Folder {
  Hole<Name> path;
  Hole<Name> mode = Value(), owner = Value(), group = Value();  ///< null: it does not matter
  Hole<bool> purged;
  static const Members& members();
};

}  // namespace fettle
