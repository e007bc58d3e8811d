#include "drivers/engine/pod_end.h"

#include <algorithm>

#include "base/at_once.h"
#include "base/text.h"
#include "drivers/engine/pod.h"
#include "drivers/engine/pod_body.h"
#include "drivers/engine/pod_probe.h"
#include "drivers/engine/surroundings.h"
#include "drivers/engine/volumes.h"
#include "kinds/pod.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr size_t most_at_once = 8;
constexpr Duration least_grace = 2s;  ///< that a container gets after its hook

/// Ends all of them at once; sidecars end after the others.
Status end_containers(const Site& site, const std::vector<ContainerState>& states,
                      const Attributes& attributes, const std::string& address,
                      const std::stop_token& stop) {
  const auto containers = pod_containers(attributes);
  const auto is_sidecar = [&](const ContainerState& state) {
    return std::ranges::any_of(containers, [&](const PodContainer& each) {
      return each.sort == PodContainer::Sort::sidecar &&
             each.name == label(state.labels, mark::container);
    });
  };
  for (const bool sidecars : {false, true}) {
    std::vector<Task> tasks;
    for (const ContainerState& state : states)
      if (is_sidecar(state) == sidecars)
        tasks.emplace_back([&](const std::stop_token& end) {
          return end_pod_container(site, state, attributes, address, end);
        });
    TRY(do_at_once(tasks, most_at_once, stop));
  }
  return {};
}

}  // namespace

std::string pod_owner(const Key& key) { return key.kind.str() + "/" + key.name.str(); }

Key pod_network(const Key& pod) {
  const NodeAddress address = node_address(pod.name);
  return {pod.environment, "network", cat(address.node, "|", address.space)};
}

int64_t pod_restarts(const Outputs& outputs, const ContainerState& state) {
  return std::max<int64_t>(std::strtoll(label(state.labels, mark::restarts).c_str(), nullptr, 10),
                           read_one<&PodOutputs::restarts>(outputs).value().integer_at(
                               label(state.labels, mark::container)));
}

Result<PodThere> pod_there(const Site& site, const Key& key, const std::stop_token& stop) {
  PodThere there;
  for (ContainerState& state : TRY(own_containers(site, key_filters(key), stop)))
    (label(state.labels, mark::container).empty() ? there.holders : there.containers)
        .push_back(std::move(state));
  return there;
}

Status end_pod_container(const Site& site, const ContainerState& state,
                         const Attributes& attributes, const std::string& address,
                         const std::stop_token& stop) {
  if (!state.runs() && state.status != "paused" && state.status != "restarting")
    return {};
  Duration grace = pod_grace(attributes);
  const auto containers = pod_containers(attributes);
  const auto own =
      std::ranges::find(containers, label(state.labels, mark::container), &PodContainer::name);
  if (own != containers.end() && own->spec.at("lifecycle").at("preStop").is_dict() && grace > 0s) {
    const Instant began = instant_from_clock();
    // A failed hook does not prevent the stop of the container.
    TRY(try_handler(site, own->spec.at("lifecycle").at("preStop"), {state.id, address, own->spec},
                    grace, stop));
    grace = std::max(least_grace, grace - (instant_from_clock() - began));
  }
  TRY(stop_container(site.engine, state.id, grace, stop));
  return {};
}

Status clear_pod(const Site& site, const PodThere& there, const Attributes& attributes,
                 const std::string& address, const std::stop_token& stop) {
  TRY(end_containers(site, there.containers, attributes, address, stop));
  for (const auto* const states : {&there.containers, &there.holders})
    for (const ContainerState& state : *states)
      TRY(remove_container(site.engine, state.id, stop));
  return {};
}

Status remove_pod_volumes(const Site& site, const Key& key, const std::stop_token& stop) {
  for (const VolumeState& volume : TRY(own_volumes(site, key_filters(key), stop)))
    TRY(remove_volume(site.engine, volume.name, stop));
  return {};
}

const Attributes& attributes_then(const Act& act) {
  return act.known != nullptr && act.known->applied ? act.known->applied->attributes
                                                    : act.attributes;
}

Result<Outcome> stop_pod(const Site& site, const Act& act, const std::stop_token& stop) {
  const Attributes attributes = reveal(attributes_then(act));
  const PodThere there = TRY(pod_there(site, act.key, stop));
  const std::string address(
      act.known == nullptr ? "" : read_one<&PodOutputs::ip>(act.known->outputs).view());
  TRY(end_containers(site, there.containers, attributes, address, stop));
  return Outcome(
      Done{.outputs = act.known == nullptr ? Outputs(Value::dict({})) : act.known->outputs,
           .remote_id = act.known == nullptr ? "" : act.known->remote_id});
}

Result<Outcome> remove_pod(const Site& site, const Act& act, const std::stop_token& stop) {
  const PodThere there = TRY(pod_there(site, act.key, stop));
  const std::string address(
      act.known == nullptr ? "" : read_one<&PodOutputs::ip>(act.known->outputs).view());
  TRY(clear_pod(site, there, reveal(attributes_then(act)), address, stop));
  TRY(remove_pod_volumes(site, act.key, stop));
  for (const ContainerState& holder : there.holders)
    site.allocation.free_address(label(holder.labels, mark::network), pod_owner(act.key));
  TRY(drop_empty_network(site, pod_network(act.key), pod_owner(act.key), stop));
  return Outcome(Done{});
}

Result<Outcome> make_claim(const Site& site, const Act& act, const std::stop_token& stop) {
  const std::string name = volume_name(act.key);
  TRY(make_own_volume(site, name, act.key, stop));
  return Outcome(Done{.outputs = Value::dict({{"volume", name}}), .remote_id = name});
}

Result<Outcome> drop_claim(const Site& site, const Act& act, const std::stop_token& stop) {
  TRY(remove_own_volume(site, act.key, stop));
  return Outcome(Done{});
}

}  // namespace fettle
