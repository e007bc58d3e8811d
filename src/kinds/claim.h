#pragma once
/// Storage that outlives the pod that uses it (a PersistentVolumeClaim): a volume of one node, so
/// pods that use it run there. It is never recreated, since what is in it would be lost: what is
/// asked for later only changes what is written about it. Its key's name is `NODE|NAMESPACE/NAME`.

#include "kinds/members.h"

namespace fettle {

struct VolumeClaim {
  Hole<Name> name, space, node, owner;
  Dict labels, spec;
  Hole<bool> retain;
  static const Members& members();
};

}  // namespace fettle
