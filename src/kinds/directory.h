#pragma once
/// A persistent directory: a volume that outlives the services that mount it and goes with the
/// environment.

#include "kinds/members.h"

namespace fettle {

struct Directory {
  Hole<int64_t> size = 1024;
  static const Members& members();
};

/// The outputs of a directory and of a claim.
struct VolumeOutputs {
  Name volume;
  static const Members& members();
};

}  // namespace fettle
