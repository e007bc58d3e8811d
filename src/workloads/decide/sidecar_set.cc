#include "workloads/decide/sidecar_set.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "kinds/pod_change.h"
#include "kinds/pull_job.h"
#include "workloads/decide/pre_download.h"
#include "workloads/decide/pulls.h"
#include "workloads/names.h"
#include "workloads/numbers.h"
#include "workloads/pods/in_place.h"
#include "workloads/pods/sidecar_parts.h"
#include "workloads/pods/sidecars.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view unknown_revision = "unknown revision";  ///< a refusal

/// The effect of the update on a pod.
struct Change {
  std::string refusal;       ///< what cannot change in place; or empty
  std::vector<Name> images;  ///< those that are new
};

class SidecarSet {
 public:
  SidecarSet(Rollout& rollout) : rollout_(rollout), workload_(rollout.workload) { find_pods(); }

  void decide() {
    std::set<Name> turns = turns_under_way();
    if (workload_.type == UpdateType::rolling && rollout_.fleet.has_all_spaces) {
      const Order order = waiting_order(turns);
      pre_download(order);
      if (!workload_.paused)
        for (const uint32_t row : chosen(order, turns))
          turns.insert(pods_[row]->resource->key.name);
    }
    remember(turns);
  }

  Value status() {
    const std::set<Name> turns = turns_under_way();
    int64_t updated = 0, ready = 0, updated_ready = 0, refused = 0;
    for (size_t row = 0; row < pods_.size(); ++row) {
      const bool is_updated = has_update_[row];
      updated += is_updated ? 1 : 0;
      ready += rows_[row].is_ready() ? 1 : 0;
      updated_ready += is_updated && rows_[row].is_ready() ? 1 : 0;
      refused += !is_updated && !can_update_[row] ? 1 : 0;
    }
    const auto all = static_cast<int64_t>(pods_.size());
    const int64_t kept = workload_.kept(all);
    const std::string failure = error();
    const bool is_settled = turns.empty() && ready == all;
    const std::string_view phase = is_settled && updated == all          ? "complete"
                                   : workload_.paused                    ? "paused"
                                   : is_settled && updated >= all - kept ? "partitioned"
                                   : !failure.empty()                    ? "failed"
                                                                         : "progressing";
    std::vector<Entry> entries{{"observedGeneration", workload_.generation},
                               {"matchedPods", all},
                               {"updatedPods", updated},
                               {"readyPods", ready},
                               {"updatedReadyPods", updated_ready},
                               {"latestRevision", rollout_.update().name},
                               {"collisionCount", rollout_.update().collisions},
                               {"phase", phase}};
    if (!failure.empty())
      entries.push_back({"reason", failure});
    else if (refused > 0)
      entries.push_back({"reason", cat(refused, refused == 1 ? " pod stays" : " pods stay",
                                       " unchanged until recreated: more than images changed")});
    return Value::dict(std::move(entries));
  }

 private:
  /// Finds the pods that have something of it. Those of others also have to be selected by it.
  void find_pods() {
    rollout_.fleet.for_each_pod_with(workload_.name, [&](const FleetPod& pod) {
      const bool is_active = pod.phase != Phase::failed && pod.phase != Phase::succeeded;
      if (pod.is_leaving || !is_active || !may_have(pod))
        return;
      const List sidecars = read_one<&Pod::sidecars>(pod.resource->attributes);
      for (const Value& sidecar : sidecars.items())
        if (sidecar.text_at("name") == workload_.name)
          add(pod, sidecar);
    });
  }

  bool may_have(const FleetPod& pod) const {
    return !is_of_others(pod.owner) || is_meant(rollout_.fleet, workload_, pod.space, pod.labels);
  }

  void add(const FleetPod& pod, const Value& sidecar) {
    if (is_of_others(pod.owner))
      rollout_.keep_revision(sidecar.text_at("revision"));
    const bool has_update =
        sidecar.text_at("revision") == rollout_.update().name && !has_leaving(sidecar);
    PodRow row;
    row.tag = &pod;
    row.phase = pod.phase;
    row.restarts = pod.restarts;
    row.created = pod.created;
    row.ready_since = pod.ready_since;
    row.readiness = readiness_of(rollout_.fleet, pod);
    if (row.is_ready() && !runs_sidecar(pod, sidecar))
      row.readiness = Readiness::unseen;
    row.is_available = row.is_ready();
    row.is_updated = has_update;
    pods_.push_back(&pod);
    rows_.push_back(std::move(row));
    has_update_.push_back(has_update);
    changes_of_.push_back(has_update ? nullptr : &change_of(pod, sidecar));
    can_update_.push_back(has_update || changes_of_.back()->refusal.empty());
  }

  const Change& change_of(const FleetPod& pod, const Value& before) {
    const Value pod_template = read_one<&Pod::pod_template>(pod.resource->attributes).value();
    // What its containers were before is unlike that of any other pod, and changes nothing.
    const Value part = before.find("last") == nullptr ? before : edited(before, {{"last", {}}});
    const auto [found, is_new] =
        changes_.try_emplace(combine(part.digest(), pod_template.digest()));
    if (!is_new)
      return found->second;
    const Value after = sidecar_template(next_sidecar(workload_, rollout_.update(), pod, before));
    const PodChange change =
        pod_change(sidecar_template(before), after, {.resources = false, .environment = true});
    found->second.refusal =
        is_of_others(pod.owner) ? refusal_for_others(before.text_at("revision")) : change.refusal;
    for (const Value& container : items_of(after.at("spec").at("containers")))
      if (std::ranges::find(change.images, Name(container.text_at("name"))) != change.images.end())
        if (const Name image = container.text_at("image");
            std::ranges::find(found->second.images, image) == found->second.images.end())
          found->second.images.push_back(image);
    return found->second;
  }

  /// A pod of others has more in its containers than its set has. So revisions are compared.
  std::string refusal_for_others(std::string_view revision) const {
    const Revision* const before = rollout_.revision(revision);
    if (before == nullptr)
      return std::string(unknown_revision);
    return pod_change(sidecar_template(before->pod_template.at("spec")),
                      sidecar_template(rollout_.update().pod_template.at("spec")),
                      {.resources = false, .environment = true})
        .refusal;
  }

  /// The pods whose turn came and that have not got there yet.
  std::set<Name> turns_under_way() {
    std::set<Name> turns;
    const Value known = rollout_.memory("turns");
    if (!known.is_list() || rollout_.memory("turns_of") != Value(rollout_.update().name))
      return turns;
    std::set<Name> before;
    for (const Value& key : known.items())
      before.insert(to_text(key));
    for (size_t row = 0; row < pods_.size(); ++row)
      if (const Name& key = pods_[row]->resource->key.name; before.contains(key)) {
        // It counts as updated, and as not available until it is.
        rows_[row].is_updated = true;
        if (!has_update_[row]) {
          rows_[row].is_available = false;
          turns.insert(key);
        }
      }
    return turns;
  }

  /// The pods that have yet to get the update, the next one first.
  Order waiting_order(const std::set<Name>& turns) {
    Order order;
    for (uint32_t row = 0; row < pods_.size(); ++row) {
      const bool is_selected =
          !workload_.update_selector || workload_.update_selector->matches(rows_[row].labels());
      if (has_update_[row] || turns.contains(pods_[row]->resource->key.name) || !is_selected)
        continue;
      if (can_update_[row])
        order.push_back(row);
      else
        refuse(row);
    }
    for (const uint32_t row : order) {
      const Node* node = rollout_.fleet.node(rows_[row].node());
      rows_[row].has_image =
          node != nullptr && std::ranges::all_of(new_images(row), [&](const Name& image) {
            return Fleet::has_image(*node, image);
          });
    }
    UpdateOrder by = workload_.order;
    by.scatter = expanded(by.scatter);
    sort_for_update(by, rows_, order);
    return order;
  }

  void refuse(uint32_t row) {
    rollout_.tell("NotUpgradablePods", cat(rows_[row].name(), "|", rollout_.update().name),
                  cat("pod ", rows_[row].name(), " cannot get revision ", rollout_.update().name,
                      " in place: ", refusal_text(changes_of_[row]->refusal)),
                  "Warning");
  }

  static std::string refusal_text(const std::string& refusal) {
    return refusal == unknown_revision ? "nobody knows any more of which revision it is"
                                       : cat("`", refusal, "` changes");
  }

  /// A star stands for every text that the label has.
  std::vector<ScatterTerm> expanded(const std::vector<ScatterTerm>& terms) const {
    std::vector<ScatterTerm> all;
    for (const ScatterTerm& term : terms) {
      if (term.value != "*") {
        all.push_back(term);
        continue;
      }
      std::set<Name> values;
      for (const PodRow& row : rows_)
        if (const Value& value = row.labels().at(term.key); value.is_text())
          values.insert(value.text());
      for (const Name& value : values)
        all.push_back({term.key, value});
    }
    return all;
  }

  std::span<const Name> new_images(uint32_t row) const {
    return changes_of_[row] == nullptr ? std::span<const Name>() : changes_of_[row]->images;
  }

  /// The pods whose turn it is now. No more are away than may be.
  Order chosen(Order order, const std::set<Name>& turns) {
    // They count as unavailable already, and would all change at once when their node comes back.
    std::erase_if(order, [&](uint32_t row) {
      const Node* const node = rollout_.fleet.node(rows_[row].node());
      return node != nullptr && !node->is_ready;
    });
    const auto all = static_cast<int64_t>(pods_.size());
    int64_t updated = static_cast<int64_t>(turns.size());
    for (const char is_updated : has_update_)
      updated += is_updated != 0 ? 1 : 0;
    Differences differences;
    differences.update = all - workload_.kept(all) - updated;
    differences.update_max_unavailable = workload_.max_unavailable.of(all, true);
    if (differences.update <= 0)
      return {};
    if (workload_.pull.mode == PullMode::wait && rollout_.fleet.gates.pre_download)
      std::erase_if(order, [&](uint32_t row) {
        return !rows_[row].has_image && !new_images(row).empty() &&
               rollout_.fleet.can_pull_ahead(rows_[row].node());
      });
    return limited(differences, rows_, std::move(order));
  }

  /// One job for each changed image in each namespace with pods to update, in the order of the
  /// update.
  void pre_download(const Order& order) {
    if (!rollout_.fleet.gates.pre_download)
      return;
    struct ImageNeed {
      Name space, image;
      std::vector<Name> nodes;
    };
    std::vector<ImageNeed> needed;
    for (const uint32_t row : order)
      for (const Name& image : new_images(row)) {
        if (!rollout_.fleet.can_pull_ahead(rows_[row].node()))
          continue;
        auto each = std::ranges::find_if(needed, [&](const ImageNeed& one) {
          return one.space == pods_[row]->space && one.image == image;
        });
        if (each == needed.end())
          each = needed.insert(needed.end(), {pods_[row]->space, image, {}});
        if (std::ranges::find(each->nodes, rows_[row].node()) == each->nodes.end())
          each->nodes.push_back(rows_[row].node());
      }
    add_known_jobs([&](const Name& space, const Name& image) {
      if (std::ranges::none_of(needed, [&](const ImageNeed& one) {
            return one.space == space && one.image == image;
          }))
        needed.push_back({space, image, {}});
    });
    for (ImageNeed& each : needed)
      emit_job(each.space, each.image, std::move(each.nodes));
  }

  /// Jobs of this revision stay until no pod waits or is under way.
  void add_known_jobs(const auto& add) {
    const bool is_under_way =
        std::ranges::any_of(rows_, [](const PodRow& row) { return !row.is_available; });
    if (!is_under_way)
      return;
    for (const auto& [name, memory] : rollout_.owned.jobs) {
      const PullJob job = read<PullJob>(memory.resource->attributes);
      if (job.state && job.state->revision == rollout_.update().name)
        add(job.space, job.image);
    }
  }

  void emit_job(const Name& space, const Name& image, std::vector<Name> nodes) {
    const Revision& update = rollout_.update();
    PullTask task;
    task.job = pull_job_name(workload_.name, update.name, image);
    task.space = space;
    task.spec = pull_spec_of(workload_, update.pod_template, image);
    const auto found = rollout_.owned.jobs.find(cat(space, "/", task.job));
    const Memory* known = found == rollout_.owned.jobs.end() ? nullptr : &found->second;
    // Pulls for pods of this namespace go on, although the pods have begun to change.
    for (const Name& key : rollout_.owned.pulls) {
      const OnNode pull = on_node(key);
      const bool is_of_space = std::ranges::any_of(pods_, [&](const FleetPod* pod) {
        return pod->space == space && pod->node == pull.node;
      });
      if (known != nullptr && pull.rest == image.view() && is_of_space &&
          std::ranges::find(nodes, Name(pull.node)) == nodes.end())
        nodes.emplace_back(pull.node);
    }
    if (known == nullptr && nodes.empty())
      return;
    task.nodes = std::move(nodes);
    task.labels = Value::dict({{label::job_revision, update.hash}});
    const Object* object = rollout_.fleet.object(rollout_.owner);
    task.document = pull_job_document(task.spec, object->document.at("spec").at("selector"), {});
    task.revision = update.name;
    if (known == nullptr)
      rollout_.tell("CreatedImagePullJob", cat(space, "/", task.job),
                    cat("pulls image ", image, " ahead for revision ", update.name,
                        " in namespace ", space, " on ", task.nodes.size(), " nodes"));
    pull(rollout_, task, known);
  }

  void remember(const std::set<Name>& turns) {
    rollout_.remember("turns_of", rollout_.update().name);
    rollout_.remember("turns", turns.empty() ? Value() : Value::list({turns.begin(), turns.end()}));
    rollout_.remember("current", rollout_.update().name);
  }

  std::string error() const {
    for (const FleetPod* pod : pods_)
      if (!pod->error.empty())
        return cat("pod ", pod->name, ": ", pod->error);
    for (const auto& [name, memory] : rollout_.owned.jobs)
      for (const PullFailure& failure : pull_failures(rollout_.fleet, rollout_.owner,
                                                      read<PullJob>(memory.resource->attributes)))
        return failure_text(read_one<&PullJob::image>(memory.resource->attributes), failure);
    return {};
  }

  Rollout& rollout_;
  const Workload& workload_;
  std::vector<const FleetPod*> pods_;
  std::vector<PodRow> rows_;
  std::vector<char> has_update_, can_update_;
  std::vector<const Change*> changes_of_;  ///< by pod; null: it has the update
  std::map<Digest, Change> changes_;
};

}  // namespace

Wanted want_sidecar_set(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  SidecarSet(rollout).decide();
  return rollout.finish();
}

Value sidecar_status(const Fleet& fleet, const Workload& workload, Time now) {
  Rollout rollout(fleet, workload, now);
  return SidecarSet(rollout).status();
}

}  // namespace fettle::workloads
