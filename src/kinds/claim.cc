/// Storage that outlives the pod that uses it (a PersistentVolumeClaim): a volume of one node, so
/// pods that use it run there. It is never made anew, since what is in it would be lost: what is
/// asked for later only changes what is written about it.
///
/// Its key's name is `NODE|NAMESPACE/NAME`.
/// attributes  {"name", "namespace", "node", "owner": the workload, or the pod that it dies with,
///             "labels": {key: text}, "spec": as a PersistentVolumeClaim's,
///             "retain": whether it outlives its owner}
/// outputs     {"volume": what the engine calls it}
/// seen        {"volume"}

#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class ClaimKind : public Kind {
 public:
  Name name() const override { return "claim"; }
  std::string shown(const Name& name) const override { return shown_on_node(name.view()); }
  Sort sort() const override { return Sort::observable; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Value none = Value::dict({});
    static const Schema schema{{"name", Field::text, {}},        {"namespace", Field::text, {}},
                               {"node", Field::text, ""},        {"owner", Field::text, ""},
                               {"labels", Field::dict, none},    {"spec", Field::dict, none},
                               {"retain", Field::boolean, false}};
    return schema.normalise(attributes);
  }
  bool in_place_changes(const Value&, const Value&) const override { return true; }
};

}  // namespace

const Kind& claim_kind() {
  static const ClaimKind kind;
  return kind;
}

}  // namespace fettle
