#include "kinds/revision.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& ControllerRevision::members() {
  static const Members all{
      required<&ControllerRevision::name>("name", "text"),
      required<&ControllerRevision::space>("namespace", "text"),
      required<&ControllerRevision::owner>("owner", "`CloneSet/NAME`"),
      required<&ControllerRevision::hash>("hash", "of the template"),
      required<&ControllerRevision::number>("number", "higher is newer"),
      required<&ControllerRevision::pod_template>("template", "as a pod's"),
      member<&ControllerRevision::claims_hash>("claims_hash", "of the claim templates"),
      member<&ControllerRevision::collisions>("collisions",
                                              "how often another template had the same hash"),
      extra<&ControllerRevision::version>("version", "that users gave it"),
      member<&ControllerRevision::state>("state", "of the newest one: its workload's memory")};
  return all;
}

const TypedKind& revision_kind() {
  static const KindOf<ControllerRevision> kind("revision", Sort::action);
  return kind;
}

}  // namespace fettle
