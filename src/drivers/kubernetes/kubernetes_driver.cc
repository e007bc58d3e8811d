#include "drivers/kubernetes/kubernetes_driver.h"

#include "base/text.h"
#include "cluster/types.h"
#include "drivers/kubernetes/pod_act.h"
#include "drivers/kubernetes/refusal.h"
#include "kinds/pod.h"

namespace fettle {

using kubernetes::ObjectName;
namespace types = cluster::types;

Result<std::vector<Observation>> KubernetesDriver::observe(std::span<const Subject> subjects,
                                                           std::stop_token) {
  std::vector<Observation> found(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    const NodeAddress address = node_address(subjects[i].key.name);
    const Value object =
        objects_.find(types::pods.kind, {std::string(address.space), std::string(address.name)});
    if (!object.is_null())
      found[i].state = State(Value::dict({{"phase", object.at("status").at("phase")}}));
  }
  return found;
}

Result<Outcome> KubernetesDriver::apply(const Act& act, const ProgressSink&, std::stop_token stop) {
  if (act.key.kind == "pod")
    return PodAct({client_, objects_, owners_, gates_, clock_()}, act, stop).carry_out();
  if (act.key.kind == "revision")
    return keep_revision(act, stop);
  return Outcome(Failed{user_error(cat("`", act.key.kind, "` is not kept in a cluster yet")), {}});
}

Result<Outcome> KubernetesDriver::keep_revision(const Act& act, const std::stop_token& stop) {
  const ControllerRevision revision = read<ControllerRevision>(act.attributes);
  const auto owner = owners_.find(revision.owner);
  if (owner == nullptr)
    return Outcome(Skipped{gone_workload});
  const ObjectName name{revision.space.str(), revision.name.str()};
  const Value object = objects_.find(types::revisions.kind, name);
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::availability};
  if (!object.is_null())
    if (const auto before = cluster::read_revision(object, owner->object.uid);
        before && write(*before) == act.attributes)
      return Outcome(Done{.outputs = Value::dict({}), .changed = false});
  const auto answer =
      object.is_null()
          ? client_.create(types::revisions, name,
                           cluster::revision_object(revision, owner->object), options, stop)
          : client_.patch(types::revisions, name, kubernetes::PatchType::merge,
                          cluster::revision_change(revision, cluster::meta_of(object)), options,
                          stop);
  if (!answer)
    return outcome_of(answer.error());
  objects_.take_answer(types::revisions.kind, *answer);
  return Outcome(Done{.outputs = Value::dict({})});
}

}  // namespace fettle
