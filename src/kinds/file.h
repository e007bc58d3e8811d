#pragma once
/// A file on a machine.

#include "kinds/owned.h"

namespace fettle {

struct File {
  Hole<Name> path;
  Hole<Name> content = Value();  ///< null: it does not matter
  Hole<Name> digest;
  Hole<Name> mode = Value(), owner = Value(), group = Value();  ///< null: it does not matter
  Hole<bool> purged;
  static const Members& members();
};

/// The wanted members that are not null, so that a blob in use is kept. Links and folders have
/// these outputs, too.
struct PathOutputs {
  Name path{};
  Value digest{}, mode{}, owner{}, group{}, leads_to{};
  static const Members& members();
};

}  // namespace fettle
