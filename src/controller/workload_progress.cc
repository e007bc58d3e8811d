#include "controller/workload_progress.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/decide/status.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

using workloads::FleetPod;
using workloads::Obstruction;
using workloads::Workload;

struct Rollout {
  const Workload* workload = nullptr;  ///< null: it is being deleted
  size_t pods = 0, updated = 0;
  std::optional<Obstruction> obstruction;
  bool is_whole() const { return updated == pods; }
  /// Whether it stays as it is until somebody says otherwise.
  bool is_left() const {
    return (workload != nullptr && workload->paused && !is_whole()) ||
           (obstruction && obstruction->is_final);
  }
};

bool is_asked(const Name& owner, const std::set<Name>& only) {
  return only.empty() || only.contains(owner);
}

class Count {
 public:
  Count(const FleetView& view, Time now, const std::set<Name>& only)
      : view_(view), now_(now), only_(only) {}

  FleetProgress count() {
    view_.fleet.for_each_pod([&](const FleetPod& pod) {
      if (!is_counted(pod))
        return;
      Rollout& rollout = rollout_of(pod.owner);
      ++rollout.pods;
      if (rollout.workload != nullptr)
        rollout.updated += pod.template_digest == rollout.workload->pod_template.digest() ? 1 : 0;
    });
    view_.fleet.for_each_pod([&](const FleetPod& pod) {
      if (is_counted(pod))
        count(pod);
    });
    for (const auto& [owner, workload] : view_.fleet.workloads())
      if (is_asked(owner, only_))
        tell_obstruction(owner, rollout_of(owner));
    for (const auto& [owner, rollout] : rollouts_)
      tell_what_holds(owner, rollout);
    return std::move(progress_);
  }

 private:
  /// Whether pods of others are ready is their matter.
  bool is_counted(const FleetPod& pod) const {
    return is_asked(pod.owner, only_) && !workloads::is_of_others(pod.owner);
  }

  Rollout& rollout_of(const Name& owner) {
    const auto [found, is_new] = rollouts_.try_emplace(owner);
    if (is_new) {
      found->second.workload = view_.fleet.workload(owner);
      found->second.obstruction = workloads::obstruction_of(view_.fleet, owner);
    }
    return found->second;
  }

  void count(const FleetPod& pod) {
    ++progress_.pods;
    const Rollout& rollout = rollouts_.at(pod.owner);
    // A pod that nobody can look at counts as it was last seen.
    const bool is_away = view_.silent.contains(engine_of_node(pod.node));
    if (!is_away && pod.is_ready() && !pod.is_leaving && !pod.is_updating) {
      ++progress_.ready;
      const int64_t seconds = rollout.workload == nullptr ? 0 : rollout.workload->min_ready_seconds;
      progress_.all_available =
          std::max(progress_.all_available, pod.ready_since + std::chrono::seconds(seconds));
      if (is_to_leave(pod))
        return tell_at_once(pod, workloads::why_it_stays(view_.fleet, pod, now_));
      if (!may_be_held(pod.lifecycle))
        return;
    }
    const bool is_left = rollout.is_left();
    progress_.is_any_awaited |= !is_away && !is_left;
    // A pause was asked for by users, and the reason of a failed rollout is reported once.
    if (is_left && pod.error.empty())
      return;
    const std::string reason = is_away              ? cat("node `", pod.node, "` does not answer")
                               : !pod.error.empty() ? pod.error.str()
                                                    : why(pod);
    if (!is_away && pod.error.empty() && may_be_held(pod.lifecycle))
      tell_at_once(pod, reason);
    else
      tell(pod, reason);
  }

  void tell(const FleetPod& pod, std::string_view reason) {
    progress_.unsettled.push_back(cat("pod ", pod.space, "/", pod.name, ": ", reason));
    progress_.unsettled_owners.insert(pod.owner);
  }
  void tell_at_once(const FleetPod& pod, std::string_view reason) {
    tell(pod, reason);
    progress_.told.push_back(progress_.unsettled.back());
  }

  /// Its node is drained, and no hook holds it.
  bool is_to_leave(const FleetPod& pod) const {
    const workloads::Node* const node = view_.fleet.node(pod.node);
    return node != nullptr && node->is_draining && !may_be_held(pod.lifecycle);
  }

  std::string why(const FleetPod& pod) const {
    if (may_be_held(pod.lifecycle))
      return cat("a lifecycle hook holds it in ", to_string(pod.lifecycle));
    const auto found = view_.seen.find(pod.resource->key);
    if (found == view_.seen.end())
      return pod.is_updating ? "its update is not complete"
                             : "it has not been observed since the last change";
    if (!found->second.state)
      return "it does not exist";
    const List conditions = read_one<&PodSeen::conditions>(*found->second.state);
    for (const Value& condition : conditions.items())
      if (condition.text_at("type") == "Ready" && condition.text_at("status") != "True")
        return std::string(condition.text_at("message", "it is not ready"));
    return "its update is not complete";
  }

  void tell_obstruction(const Name& owner, const Rollout& rollout) {
    if (!rollout.obstruction)
      return;
    progress_.unsettled.push_back(cat(owner, ": ", rollout.obstruction->text));
    progress_.unsettled_owners.insert(owner);
    progress_.is_refused |= rollout.obstruction->is_final;
  }

  void tell_what_holds(const Name& owner, const Rollout& rollout) {
    const Workload* const workload = rollout.workload;
    if (workload == nullptr || rollout.is_whole() ||
        (!workload->paused && workload->kept(static_cast<int64_t>(rollout.pods)) == 0))
      return;
    progress_.held.push_back(
        cat(owner, workload->paused ? " is paused: " : " has a partition: ", rollout.updated,
            " of ", rollout.pods, rollout.pods == 1 ? " pod is updated" : " pods are updated"));
  }

  const FleetView& view_;
  const Time now_;
  const std::set<Name>& only_;
  std::map<Name, Rollout> rollouts_;
  FleetProgress progress_;
};

}  // namespace

FleetProgress progress_of(const FleetView& view, Time now, const std::set<Name>& only) {
  return Count(view, now, only).count();
}

void add_statuses(const FleetView& view, Time now, const std::set<Name>& only,
                  FleetProgress& progress) {
  for (const auto& [owner, workload] : view.fleet.workloads()) {
    const Value status = workloads::status_of(view.fleet, owner, now);
    const std::string_view phase = status.text_at("phase");
    if (!is_asked(owner, only) || (phase != "failed" && phase != "progressing"))
      continue;
    progress.is_refused |= phase == "failed";
    if (progress.unsettled_owners.insert(owner).second)
      progress.unsettled.push_back(
          cat(owner, ": ", status.text_at("reason", "the rollout is not complete")));
  }
}

}  // namespace fettle
