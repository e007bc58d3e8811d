#include "workloads/pods/new_pod.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "kinds/claim.h"
#include "kinds/pod.h"
#include "workloads/names.h"
#include "workloads/pods/in_place.h"
#include "workloads/pods/lifecycle.h"
#include "workloads/pods/pod_edit.h"
#include "workloads/pods/sidecars.h"

namespace fettle::workloads {
namespace {

/// A pod's own entries, with users' changes put over them. A request for its deletion that the
/// workload wrote itself stays.
Value with_marks(const Value& own, const Value& marks) {
  std::vector<Entry> entries;
  if (own.is_dict())
    for (const Entry& entry : own.entries())
      if (is_of_workload(entry.key) || entry.key == label::specified_delete)
        entries.push_back(entry);
  if (marks.is_dict())
    for (const Entry& entry : marks.entries())
      if (!is_of_workload(entry.key))
        entries.push_back(entry);
  return entries.empty() ? Value() : Value::dict(std::move(entries));
}

/// What its readiness gates say: all of them, where it gets no others later.
Value first_conditions(const Rollout& rollout) {
  std::vector<Entry> conditions{{condition::in_place, status::yes}};
  if (rollout.fleet.is_cluster && rollout.workload.hooks.mark_not_ready())
    conditions.push_back({condition::pod_ready, status::yes});
  return Value::dict(std::move(conditions));
}

/// A uid that no other pod of this name has, however soon one follows another.
std::string uid_of(const Rollout& rollout, std::string_view name) {
  return to_string(
      fingerprint(cat(rollout.owner, "\n", name, "\n", rollout.now.time_since_epoch().count())));
}

}  // namespace

Pod new_pod(Rollout& rollout, const Revision& revision, std::string_view name,
            std::vector<Entry> labels) {
  const auto& gates = rollout.fleet.gates;
  const auto& hook = rollout.workload.hooks.pre_normal;
  for (Entry& entry : revision_labels(rollout, revision))
    labels.push_back(std::move(entry));
  Pod pod;
  pod.name = Value(name);
  pod.space = rollout.workload.space;
  pod.uid = uid_of(rollout, name);
  pod.revision = revision.name;
  pod.pod_template = revision.pod_template;
  pod.labels = Value::dict(std::move(labels));
  pod.conditions = first_conditions(rollout);
  pod.owner = rollout.owner;
  pod.state =
      Value::dict({{row_of<&PodMemory::made>().name, rollout.now.time_since_epoch().count()}});
  const Value sidecars = sidecars_for(rollout, pod_labels(write(pod)), revision.pod_template, name);
  pod.configs = rollout.configs_for(revision.pod_template, sidecars);
  pod.sidecars = sidecars;
  pod.resize = gates.resize;
  pod.keep_environment = !gates.environment;
  if (gates.claim_hash && rollout.workload.policy != PodPolicy::in_place_only)
    pod.claims_hash = revision.claims_hash;
  pod = read<Pod>(with_lifecycle(write(pod), hook ? Lifecycle::preparing_normal : Lifecycle::normal,
                                 hook && hook->marks_not_ready, rollout.now));
  // Thousands of pods have the same.
  for (Dict* each : {&pod.annotations, &pod.conditions, &pod.state})
    *each = rollout.shared(each->value());
  return pod;
}

Value spec_to_place(Rollout& rollout, const Pod& pod) {
  if (pod.sidecars.empty())
    return pod.pod_template.at("spec");
  return rollout.shared(pod_spec(write(pod)));
}

namespace {

/// What pods get from ConfigMaps and Secrets. Thousands of pods have one of a few templates, in any
/// order.
class ConfigsByTemplate {
 public:
  explicit ConfigsByTemplate(Rollout& rollout) : rollout_(rollout) {}
  const Value& of(size_t row, bool has_sidecars) {
    const uint32_t number = rollout_.rows[row].template_number;
    if (!has_sidecars && number < known_.size() && known_[number])
      return *known_[number];
    const Attributes& attributes = rollout_.attributes(row);
    Value configs = rollout_.configs_for(pod_template_of(attributes),
                                         read_one<&Pod::sidecars>(attributes).value());
    if (has_sidecars)
      return last_ = std::move(configs);
    if (number >= known_.size())
      known_.resize(number + 1);
    return *(known_[number] = std::move(configs));
  }

 private:
  Rollout& rollout_;
  std::vector<std::optional<Value>> known_;  ///< by the number of the template
  Value last_;
};

}  // namespace

void refresh_surroundings(Rollout& rollout) {
  ConfigsByTemplate all_configs(rollout);
  SidecarTurns turns(rollout.fleet, rollout.now);
  for (size_t row = 0; row < rollout.size(); ++row) {
    if (rollout.rows[row].is_plain && all_configs.of(row, false).is_null())
      continue;
    const FleetPod* pod = rollout.pod(row);
    if (pod == nullptr)
      continue;
    if (pod->has_sidecars()) {
      const Value sidecars = read_one<&Pod::sidecars>(rollout.attributes(row)).value();
      if (Value taken = turns.taken(*pod, sidecars); taken != sidecars) {
        PodEdit edit(rollout.attributes(row));
        edit.set<&Pod::sidecars>(std::move(taken));
        rollout.change(row, edit.made());
      }
    }
    const Value& configs = all_configs.of(row, pod->has_sidecars());
    if (!pod->is_marked && configs.digest() == pod->configs_digest)
      continue;
    const Attributes& attributes = rollout.attributes(row);
    const Object* marks = rollout.fleet.marks(*pod);
    const Digest surroundings = combine(combine(attributes.digest(), configs.digest()),
                                        marks == nullptr ? Digest() : marks->document.digest());
    if (pod->settled == surroundings)
      continue;
    const Pod own = read<Pod>(attributes);
    const Value& metadata = marks == nullptr ? Value() : marks->document.at("metadata");
    const Value& finalizers = metadata.at("finalizers");
    PodEdit edit(attributes);
    edit.set<&Pod::configs>(configs);
    edit.set<&Pod::labels>(with_marks(own.labels.value(), metadata.at("labels")));
    edit.set<&Pod::annotations>(with_marks(own.annotations.value(), metadata.at("annotations")));
    if (finalizers.is_list())
      edit.set<&Pod::finalizers>(finalizers.items().empty() ? Value() : finalizers);
    edit.set_in<&Pod::state>(row_of<&PodMemory::is_marked>().name,
                             marks == nullptr ? Value() : Value(true));
    Attributes made = edit.made();
    if (made == attributes)
      pod->settled = surroundings;
    else
      rollout.change(row, std::move(made));
  }
}

std::vector<int64_t> counts_on_nodes(const Rollout& rollout) {
  std::vector<int64_t> counts(rollout.fleet.node_numbers());
  for (size_t row = 0; row < rollout.size(); ++row)
    if (const FleetPod* pod = rollout.pod(row); pod != nullptr)
      ++counts[pod->node_number];
  return counts;
}

PodClaims claims_for(const Rollout& rollout, std::string_view suffix) {
  PodClaims found;
  std::vector<Entry> entries;
  for (const ClaimTemplate& claim : rollout.workload.claims) {
    const Name name = cat(claim.name, "-", rollout.workload.name, "-", suffix);
    entries.push_back({claim.name, name});
    for (const auto& [key, memory] : rollout.owned.claims)
      if (const VolumeClaim there = read<VolumeClaim>(memory.resource->attributes);
          there.name.get() == name)
        found.node = there.node.get();
  }
  if (!entries.empty())
    found.by_volume = Value::dict(std::move(entries));
  return found;
}

namespace {

/// Shared with what is known when it says so already.
Attributes with_retain(const Attributes& attributes, bool retains) {
  VolumeClaim claim = read<VolumeClaim>(attributes);
  if (claim.retain.value() == Value(retains))
    return attributes;
  claim.retain = retains;
  return write(claim);
}

}  // namespace

void emit_claims(Rollout& rollout, const std::function<bool(const Name& claim)>& keeps,
                 bool retains) {
  std::set<Name> emitted;
  for (size_t row = 0; row < rollout.size() && !rollout.workload.claims.empty(); ++row) {
    const Attributes& attributes = rollout.attributes(row);
    const Dict claims = read_one<&Pod::claims>(attributes);
    const Name node = read_one<&Pod::node>(attributes).get();
    for (const ClaimTemplate& claim : rollout.workload.claims) {
      const Value& name = claims.at(claim.name);
      if (!name.is_text())
        continue;
      const Name key = node_name_of(node, rollout.workload.space, name.text());
      emitted.insert(key);
      if (const auto known = rollout.owned.claims.find(key); known != rollout.owned.claims.end()) {
        rollout.emit("claim", key, with_retain(known->second.resource->attributes, retains),
                     rollout.driver_of(node));
        continue;
      }
      const Value id = read_one<&Pod::labels>(attributes).at(label::instance_id);
      VolumeClaim made;
      made.name = name;
      made.space = rollout.workload.space;
      made.node = node;
      made.owner = rollout.owner;
      made.labels = id.is_null() ? edited(claim.labels, {})
                                 : edited(claim.labels, {{label::instance_id, id}});
      if (claim.spec.is_dict())
        made.spec = claim.spec;
      made.retain = retains;
      rollout.emit("claim", key, write(made), rollout.driver_of(node));
    }
  }
  for (const auto& [key, memory] : rollout.owned.claims)
    if (!emitted.contains(key) &&
        keeps(read_one<&VolumeClaim::name>(memory.resource->attributes).get()))
      rollout.emit("claim", key, with_retain(memory.resource->attributes, retains),
                   memory.resource->driver);
}

}  // namespace fettle::workloads
