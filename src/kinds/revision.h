#pragma once
/// A template that a workload has or had. It is remembered so that pods can keep an older one and a
/// rollout can be undone; it needs no act. Its key's name is `NAMESPACE/NAME`, where NAME is that
/// of the workload and the hash.

#include "kinds/members.h"

namespace fettle {

struct ControllerRevision {
  Name name, space, owner, hash;
  int64_t number = 0;
  Dict pod_template;
  Name claims_hash;
  int64_t collisions = 0;
  Name version;
  Dict state;  ///< of the newest one: its workload's memory
  static const Members& members();
};

}  // namespace fettle
