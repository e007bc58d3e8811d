/// Revisions: the present and former templates of a workload. When a former template comes back,
/// its revision gets a new number, so that undoing a rollout finds its pods again.

#include <algorithm>

#include "base/text.h"
#include "kinds/revision.h"
#include "value/json.h"
#include "workloads/names.h"
#include "workloads/pod_defaults.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

Revision revision_of(const Attributes& attributes) {
  const ControllerRevision known = read<ControllerRevision>(attributes);
  return {.name = known.name,
          .hash = known.hash,
          .number = known.number,
          .pod_template = known.pod_template.value(),
          .claims_hash = known.claims_hash,
          .collisions = known.collisions,
          .state = known.state.value(),
          .version = known.version};
}

/// The data that is hashed (Kubernetes: the patch that would bring the template back).
std::string revision_data(const Value& pod_template) {
  const Value replaced = edited(pod_template, {{"$patch", "replace"}});
  return write_json(Value::dict({{"spec", Value::dict({{"template", replaced}})}}),
                    {.indent = 0, .show_secrets = true});
}

}  // namespace

const Revision* Rollout::revision(std::string_view name) const {
  const auto found =
      std::ranges::find_if(revisions, [&](const Revision& each) { return each.name == name; });
  return found == revisions.end() ? nullptr : &*found;
}

const Revision* Rollout::injected_revision() const {
  const InjectedRevision& injected = workload.injected;
  if (!injected.revision.empty())
    return revision(injected.revision);
  // The newest one, if several have the same version.
  const auto found = std::find_if(revisions.rbegin(), revisions.rend(), [&](const Revision& each) {
    return !injected.version.empty() && each.version == injected.version;
  });
  return found == revisions.rend() ? nullptr : &*found;
}

void Rollout::find_revisions() {
  if (is_job(workload.sort)) {
    revisions.emplace_back();
    return;
  }
  for (const auto& [name, memory] : owned.revisions)
    revisions.push_back(revision_of(memory.resource->attributes));
  const auto by_number = [](const Revision& a, const Revision& b) { return a.number < b.number; };
  std::ranges::stable_sort(revisions, by_number);
  if (!revisions.empty()) {
    memory_ = revisions.back().state.is_dict() ? revisions.back().state : Value::dict({});
    revisions.back().state = Value();
  }
  const Value& wanted = workload.pod_template;
  const std::string claims = workload.claims.empty()
                                 ? std::string()
                                 : revision_hash(write_json(workload.claims_document), 0);
  const int64_t next = revisions.empty() ? 1 : revisions.back().number + 1;
  const auto equal = std::find_if(revisions.rbegin(), revisions.rend(), [&](const Revision& each) {
    // One that an earlier version has stored may say more than has a meaning.
    return (each.pod_template == wanted ||
            without_defaults(each.pod_template, "Template") == wanted) &&
           (!fleet.gates.claim_hash || each.claims_hash.empty() || each.claims_hash == claims);
  });
  if (equal != revisions.rend()) {
    if (equal != revisions.rbegin())
      equal->number = next;
  } else {
    Revision revision;
    // In a cluster the revisions of a set of the same name that was deleted may still be there.
    const std::string data = cat(revision_data(wanted), life());
    // A name that another template has is passed over.
    do {
      revision.hash = revision_hash(data, static_cast<int>(revision.collisions));
      revision.name = cat(workload.name, "-", revision.hash);
      ++revision.collisions;
    } while (this->revision(revision.name) != nullptr);
    --revision.collisions;
    revision.number = next;
    revision.pod_template = wanted;
    revision.claims_hash = claims;
    revisions.push_back(std::move(revision));
  }
  std::ranges::stable_sort(revisions, by_number);
  update_index = revisions.size() - 1;
  if (!workload.custom_version.empty())
    revisions[update_index].version = workload.custom_version;
  const Value known = memory("current");
  current_index = update_index;
  for (size_t i = 0; i < revisions.size(); ++i)
    if (known.is_text() && revisions[i].name == known.text())
      current_index = i;
}

void Rollout::settle_revisions() {
  const bool all_updated =
      std::ranges::all_of(rows, [](const PodRow& row) { return row.is_updated; });
  const bool is_complete = workload.sort == WorkloadSort::daemon_set ||
                           static_cast<int64_t>(size()) == workload.replicas;
  if (all_updated && is_complete)
    current_index = update_index;
  remember("current", current().name);
}

void Rollout::emit_revisions() {
  if (is_job(workload.sort))
    return;
  std::vector<bool> live(revisions.size() + 1);
  live[update_index] = live[current_index] = true;
  if (const Revision* injected = injected_revision())
    live[static_cast<size_t>(injected - revisions.data())] = true;
  for (const PodRow& row : rows)
    live[row.revision_number] = true;
  for (size_t i = 0; i < revisions.size(); ++i)
    live[i] = live[i] || used_revisions_.contains(revisions[i].name);
  int64_t history = 0;
  for (size_t i = 0; i < revisions.size(); ++i)
    history += live[i] ? 0 : 1;
  for (size_t i = 0; i < revisions.size(); ++i) {
    const Revision& each = revisions[i];
    if (!live[i] && history-- > workload.history_limit)
      continue;
    const ControllerRevision made{.name = each.name,
                                  .space = workload.space,
                                  .owner = owner,
                                  .hash = each.hash,
                                  .number = each.number,
                                  .pod_template = each.pod_template,
                                  .claims_hash = each.claims_hash,
                                  .collisions = each.collisions,
                                  .version = each.version,
                                  .state = i == update_index ? memory_ : Value::dict({})};
    emit("revision", in_space(each.name), write(made));
  }
}

}  // namespace fettle::workloads
