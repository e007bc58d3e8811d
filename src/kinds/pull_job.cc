/// An image that is to be on many nodes. The pulls are resources of their own (`image`); this
/// remembers what they belong to, and there is nothing to be done for it.
///
/// Its key's name is `NAMESPACE/NAME`.
/// attributes  {"name", "namespace", "owner": `CloneSet/NAME` or empty, "image",
///             "labels", "annotations": {key: text}, "spec": as an ImagePullJob's, with all its
///             defaults, "state": {"started": time, "completed": time, "digest": what the tag means
///             in this rollout, "revision", "nodes": {node: what became of it}}}
/// outputs     {}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class PullJobKind : public Kind {
 public:
  Name name() const override { return "pull_job"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Value none = Value::dict({});
    static const Schema schema{{"name", Field::text, {}},     {"namespace", Field::text, {}},
                               {"owner", Field::text, ""},    {"image", Field::text, {}},
                               {"labels", Field::dict, none}, {"annotations", Field::dict, none},
                               {"spec", Field::dict, none},   {"state", Field::dict, none}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& pull_job_kind() {
  static const PullJobKind kind;
  return kind;
}

}  // namespace fettle
