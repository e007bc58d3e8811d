#include "workloads/seen.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "kinds/pod.h"
#include "value/name_at.h"

namespace fettle::workloads {
namespace {

Phase phase_of(std::string_view text) {
  return text == "Running"     ? Phase::running
         : text == "Unknown"   ? Phase::unknown
         : text == "Succeeded" ? Phase::succeeded
         : text == "Failed"    ? Phase::failed
                               : Phase::pending;
}

ContainerSeen container_of(const Value& status) {
  ContainerSeen seen;
  seen.name = name_at(status, "name");
  seen.image = name_at(status, "image");
  seen.image_id = name_at(status, "imageID");
  seen.container_id = name_at(status, "containerID");
  seen.restarts = static_cast<int>(status.integer_at("restartCount"));
  seen.is_ready = status.bool_at("ready");
  seen.resources = status.at("resources");
  seen.is_running = status.at("state").find("running") != nullptr;
  return seen;
}

bool is_same_but_for_restarts(const ContainerSeen& a, const ContainerSeen& b) {
  return a.name == b.name && a.image == b.image && a.image_id == b.image_id &&
         a.container_id == b.container_id && a.is_ready == b.is_ready &&
         a.is_running == b.is_running && a.resources == b.resources;
}

/// What the last look at a pod has found of it.
struct PodAtALook {
  Phase phase;
  Readiness readiness;
  Time ready_since, created;
  Name complaint;
  std::vector<ContainerSeen> containers;
};

PodAtALook look_of(const FleetPod& pod) {
  return {pod.phase, pod.readiness, pod.ready_since, pod.created, pod.complaint, pod.containers};
}

/// How often containers have restarted only says which pod goes first when one has to go. That alone
/// is no reason to ask anybody, and of a crashing pod it changes all the time.
bool is_same_look(const PodAtALook& before, const FleetPod& pod) {
  return before.phase == pod.phase && before.readiness == pod.readiness &&
         before.ready_since == pod.ready_since && before.created == pod.created &&
         before.complaint == pod.complaint &&
         std::ranges::equal(before.containers, pod.containers, is_same_but_for_restarts);
}

}  // namespace

bool read_status(const State& status, FleetPod& pod) {
  const PodAtALook before = look_of(pod);
  const PodSeen seen = read<PodSeen>(status);
  pod.phase = phase_of(seen.phase);
  pod.readiness = Readiness::not_ready;
  pod.ready_since = Time();
  pod.restarts = 0;
  pod.complaint = {};
  pod.containers.clear();
  pod.created = read_moment(seen.started.view()).value_or(Time());
  for (const Value& each : seen.conditions.items()) {
    if (each.text_at("type") != "Ready")
      continue;
    if (each.text_at("status") == "True")
      pod.readiness = Readiness::ready;
    if (pod.is_ready())
      pod.ready_since = read_moment(each.text_at("lastTransitionTime")).value_or(Time());
    else
      pod.complaint = each.text_at("message");
  }
  for (const Value& each : seen.containers.items()) {
    pod.containers.push_back(container_of(each));
    pod.restarts = std::max(pod.restarts, pod.containers.back().restarts);
  }
  return !is_same_look(before, pod);
}

}  // namespace fettle::workloads
