#pragma once
/// Storage that outlives the pod that uses it (a PersistentVolumeClaim): a volume on one node, so
/// pods that use it run there. It is never recreated, because its content would be lost: later
/// requests only change its record. Its key's name is `NODE|NAMESPACE/NAME`.

#include "kinds/members.h"

namespace fettle {

struct VolumeClaim {
  Hole<Name> name, space, node, owner;
  Dict labels, spec;
  Hole<bool> retain;
  static const Members& members();
};

}  // namespace fettle
