#include "workloads/seen.h"

#include "base/rfc3339.h"
#include "kinds/pod.h"

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
  seen.name = status.text_at("name");
  seen.image = status.text_at("image");
  seen.image_id = status.text_at("imageID");
  seen.container_id = status.text_at("containerID");
  seen.restarts = static_cast<int>(status.integer_at("restartCount"));
  seen.is_ready = status.bool_at("ready");
  seen.resources = status.at("resources");
  seen.is_running = status.at("state").find("running") != nullptr;
  return seen;
}

}  // namespace

void read_status(const State& status, FleetPod& pod) {
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
}

}  // namespace fettle::workloads
