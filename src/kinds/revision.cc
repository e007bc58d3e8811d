/// A template that a workload has or had. It is remembered, so that pods can keep an older one and
/// a rollout can be undone; there is nothing to be done for it.
///
/// Its key's name is `NAMESPACE/NAME`, NAME being that of the workload and the hash.
/// attributes  {"name", "namespace", "owner": `CloneSet/NAME`, "hash", "number": higher is newer,
///             "template": as a pod's, "claims_hash", "collisions": how often another template had
///             the same hash, "version": that users gave it, left out when they did not, "state":
///             of the newest one: what its workload remembers}
/// outputs     {}

#include "kinds/kinds.h"
#include "kinds/schema.h"
#include "value/empty.h"

namespace fettle {
namespace {

class RevisionKind : public Kind {
 public:
  Name name() const override { return "revision"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{
        {"name", Field::text, {}},        {"namespace", Field::text, {}},
        {"owner", Field::text, {}},       {"hash", Field::text, {}},
        {"number", Field::integer, {}},   {"template", Field::dict, {}},
        {"claims_hash", Field::text, ""}, {"collisions", Field::integer, 0},
        {"version", Field::text, ""},     {"state", Field::dict, Value::dict({})}};
    const Value normal = TRY(schema.normalise(attributes));
    std::vector<Entry> entries;
    for (const Entry& entry : normal.entries())
      if (entry.key != "version" || !is_empty(entry.value))
        entries.push_back(entry);
    return Value::dict(std::move(entries));
  }
};

}  // namespace

const Kind& revision_kind() {
  static const RevisionKind kind;
  return kind;
}

}  // namespace fettle
