#include "drivers/engine/surroundings.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/images.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/volumes.h"

namespace fettle {
namespace {

constexpr int network_prefix = 22;  ///< about a thousand addresses, as Kurtosis gives
constexpr int network_tries = 8;

Outcome network_done(const std::string& id, const std::string& name, const Subnet& subnet,
                     const std::string& gateway, bool changed) {
  return Done{
      .outputs = Value::dict(
          {{"name", name}, {"id", id}, {"subnet", to_string(subnet)}, {"gateway", gateway}}),
      .remote_id = id,
      .changed = changed};
}

/// The network that is there already: ours, from an act that was interrupted or a store that was
/// lost.
Result<Outcome> adopt_network(const Site& site, const Act& act, const std::string& name,
                              const std::stop_token& stop) {
  const auto state = TRY(inspect_network(site.engine, name, stop));
  if (!state)
    return world_error(cat("the network `", name, "` appeared and is gone"));
  if (key_in(state->labels) != act.key || state->subnets.empty())
    return world_error(cat("a network `", name, "` that fettle did not make is there"));
  const Subnet subnet = state->subnets[0];
  const std::string gateway =
      state->gateway.empty() ? address_text(subnet.address + 1) : state->gateway;
  return network_done(state->id, name, subnet, gateway, false);
}

Outcome image_done(const Act& act, const std::string& id) {
  const bool changed = act.known == nullptr || act.known->outputs.text_at("id") != id;
  return Done{.outputs = Value::dict({{"id", id}}), .remote_id = id, .changed = changed};
}

}  // namespace

Result<Outcome> make_network(const Site& site, const Act& act, std::stop_token stop) {
  const std::string name = network_name(act.key);
  std::vector<Subnet> taken = subnets_in_use();
  uint64_t seed = hash64(cat(site.engine.address().text, " ", name));
  bool asked = false;
  std::string refusal;
  for (int i = 0; i < network_tries; ++i) {
    const auto subnet = free_subnet(site.options.pools, network_prefix, taken, seed);
    if (!subnet)
      return no_free_subnet(site.options.pools, network_prefix);
    const std::string gateway = address_text(subnet->address + 1);
    const NetworkCreated created =
        TRY(create_network(site.engine,
                           {.name = name,
                            .bridge = bridge_name(site.engine.address().text, name),
                            .subnet = *subnet,
                            .gateway = gateway,
                            .labels = marks_of(act.key)},
                           stop));
    if (created.refusal == NetworkRefusal::name_taken)
      return adopt_network(site, act, name, stop);
    if (created.refusal == NetworkRefusal::none) {
      const std::string id = created.id;
      site.allocation.learn(id, {});
      return network_done(id, name, *subnet, gateway, true);
    }
    refusal = created.said;
    taken.push_back(*subnet);
    if (!asked)
      for (const NetworkState& other : TRY(list_networks(site.engine, {}, stop)))
        taken.insert(taken.end(), other.subnets.begin(), other.subnets.end());
    asked = true;
  }
  return world_error(cat("the engine refused ", network_tries, " ranges of addresses: ", refusal));
}

Result<Outcome> drop_network(const Site& site, const Act& act, std::stop_token stop) {
  const std::string name = network_name(act.key);
  Status removed = remove_network(site.engine, name, stop);
  if (!removed && !is_cancelled(removed.error())) {
    const auto state = TRY(inspect_network(site.engine, name, stop));
    if (!state || key_in(state->labels) != act.key)
      return Outcome(Done{.outputs = {}, .remote_id = {}, .changed = false});
    auto left = TRY(list_containers(site.engine, {environment_filter(act.key.environment)}, stop));
    // What stands on another container goes before it.
    std::ranges::stable_partition(left, [](const ContainerState& each) {
      return !label(each.labels, mark::container).empty();
    });
    for (const ContainerState& container : left)
      TRY(remove_container(site.engine, container.id, stop));
    removed = remove_network(site.engine, name, stop);
  }
  if (!removed)
    return removed.error();
  return Outcome(Done{});
}

Result<Outcome> make_image(const Site& site, const Act& act, const ProgressSink& progress,
                           std::stop_token stop) {
  const std::string reference(act.attributes.text_at("reference"));
  const bool always = act.attributes.text_at("pull") == "always";
  const std::string before = TRY(image_id(site.engine, reference, stop));
  if (!before.empty() && !always)
    return image_done(act, before);
  const std::string full = full_reference(reference);
  const auto login = site.options.login ? site.options.login(full.substr(0, full.find('/')))
                                        : std::optional<RegistryLogin>();
  const Status pulled = pull_image(site.engine, reference, login, progress, stop);
  if (!pulled)
    return pulled.error();
  const std::string id = TRY(image_id(site.engine, reference, stop));
  if (id.empty())
    return world_error(cat("`", reference, "` was pulled, yet the engine does not have it"));
  return image_done(act, id);
}

Result<Outcome> make_directory(const Site& site, const Act& act, std::stop_token stop) {
  const std::string name = volume_name(act.key);
  TRY(create_volume(site.engine, name, marks_of(act.key), stop));
  return Outcome(Done{.outputs = Value::dict({{"volume", name}}), .remote_id = name});
}

Result<Outcome> drop_directory(const Site& site, const Act& act, std::stop_token stop) {
  TRY(remove_volume(site.engine, volume_name(act.key), stop));
  return Outcome(Done{});
}

}  // namespace fettle
