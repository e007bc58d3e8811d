#include "kinds/revision.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& ControllerRevision::members() {
  static const Members all{
      member<&ControllerRevision::name>("name", "text"),
      member<&ControllerRevision::space>("namespace", "text"),
      member<&ControllerRevision::owner>("owner", "`CloneSet/NAME`"),
      member<&ControllerRevision::hash>("hash", "of the template"),
      member<&ControllerRevision::number>("number", "higher is newer"),
      member<&ControllerRevision::pod_template>("template", "as a pod's"),
      member<&ControllerRevision::claims_hash>("claims_hash", "of the claim templates", ""),
      member<&ControllerRevision::collisions>("collisions",
                                              "how often another template had the same hash", 0),
      extra<&ControllerRevision::version>("version", "that users gave it"),
      member<&ControllerRevision::state>("state", "of the newest one: what its workload remembers",
                                         Value::dict({}))};
  return all;
}

const TypedKind& revision_kind() {
  static const KindOf<ControllerRevision> kind("revision", Sort::action);
  return kind;
}

}  // namespace fettle
