#include "kinds/claim.h"

#include "kinds/directory.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

class ClaimKind : public KindOf<VolumeClaim, VolumeOutputs, VolumeOutputs> {
 public:
  ClaimKind() : KindOf("claim", Sort::observable) {}
  std::string shown(const Name& name) const override { return shown_on_node(name.view()); }
  bool in_place_changes(const Attributes&, const Attributes&) const override { return true; }
};

}  // namespace

const Members& VolumeClaim::members() {
  static const Members all{
      required<&VolumeClaim::name>("name", "text"),
      required<&VolumeClaim::space>("namespace", "text"),
      member<&VolumeClaim::node>("node", "the node that has it"),
      member<&VolumeClaim::owner>("owner", "the workload, or the pod that it dies with"),
      member<&VolumeClaim::labels>("labels", "{key: text}"),
      member<&VolumeClaim::spec>("spec", "as a PersistentVolumeClaim's"),
      member<&VolumeClaim::retain>("retain", "whether it outlives its owner")};
  return all;
}

const TypedKind& claim_kind() {
  static const ClaimKind kind;
  return kind;
}

}  // namespace fettle
