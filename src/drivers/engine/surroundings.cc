#include "drivers/engine/surroundings.h"

#include <algorithm>
#include <mutex>

#include "base/hash.h"
#include "base/text.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/images.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/volumes.h"
#include "kinds/directory.h"
#include "kinds/image.h"
#include "kinds/network.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr int network_prefix = 22;  ///< about a thousand addresses, as with Kurtosis
constexpr int network_tries = 8;
constexpr Duration longest_pause = 30s;  ///< between two tries of a pull

Outcome network_done(const std::string& id, const std::string& name, const Subnet& subnet,
                     const std::string& gateway, bool changed) {
  return Done{.outputs = write(NetworkOutputs{name, id, to_string(subnet), gateway}),
              .remote_id = id,
              .changed = changed};
}

/// Adopts a network that is there already: ours, from an interrupted act or a lost store.
Result<Outcome> adopt_network(const Site& site, const Act& act, const std::string& name,
                              const std::stop_token& stop) {
  const auto state = TRY(inspect_network(site.engine, name, stop));
  if (!state)
    return world_error(cat("the network `", name, "` appeared and disappeared"));
  if (own_key(site, state->labels) != act.key || state->subnets.empty())
    return taken_error("network", name, state->labels);
  const Subnet subnet = state->subnets[0];
  const std::string gateway =
      state->gateway.empty() ? address_text(subnet.address + 1) : state->gateway;
  return network_done(state->id, name, subnet, gateway, false);
}

Outcome image_done(const Act& act, const ImageFacts& image, std::string said = {}) {
  const Image wanted = read<Image>(act.attributes);
  const bool changed =
      act.known == nullptr || read<ImageOutputs>(act.known->outputs).id != Value(image.id);
  ImageOutputs outputs{.id = image.id};
  if (!wanted.node.empty() || !wanted.digest.empty())
    outputs.digest = Value(image.digest);
  if (!act.key.name.view().ends_with(wanted.reference.view()))
    outputs.reference = wanted.reference.get();
  Done done{.outputs = write(outputs), .remote_id = image.id, .changed = changed};
  if (!said.empty())
    done.printed.push_back(std::move(said));
  return done;
}

/// Pulls once, by the digest if one is given.
Status pull_once(const Site& site, const Act& act, const ProgressSink& progress,
                 const std::stop_token& stop) {
  const Image image = read<Image>(act.attributes);
  const std::string reference = image.reference.get().str();
  const std::string_view digest = image.digest.view();
  const std::string asked =
      digest.empty() ? reference
                     : cat(split_reference(full_reference(reference)).first, "@", digest);
  std::vector<RegistryLogin> given;
  const Value credentials = reveal(image.credentials.value());
  for (const Value& each : credentials.items())
    for (RegistryLogin& login : logins_in(each, registry_of(reference)))
      given.push_back(std::move(login));
  const Status pulled = pull_with_logins(site.engine, asked, given, site.options.login, progress,
                                         stop, std::chrono::seconds(image.timeout.get()));
  if (pulled && !digest.empty())
    return tag_image(site.engine, asked, reference, stop);
  return pulled;
}

}  // namespace

Result<Outcome> make_network(const Site& site, const Act& act, std::stop_token stop) {
  const std::string name = network_name(act.key);
  std::vector<Subnet> taken;
  if (site.engine.address().is_local())
    taken = subnets_in_use();
  uint64_t seed = hash64(cat(site.engine.address().text, " ", name));
  bool asked = false;
  std::string refusal;
  for (int i = 0; i < network_tries; ++i) {
    const auto subnet = free_subnet(site.options.pools, network_prefix, taken, seed);
    if (!subnet)
      return no_free_subnet(site.options.pools, network_prefix);
    const std::string gateway = address_text(subnet->address + 1);
    const CreatedNetwork created =
        TRY(create_network(site.engine,
                           {.name = name,
                            .bridge = bridge_name(site.engine.address().text, name),
                            .subnet = *subnet,
                            .gateway = gateway,
                            .labels = own_marks(site, act.key)},
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
  return world_error(cat("the engine refused ", network_tries, " address ranges: ", refusal));
}

Result<Outcome> drop_network(const Site& site, const Act& act, std::stop_token stop) {
  const std::string name = network_name(act.key);
  const auto state = TRY(inspect_network(site.engine, name, stop));
  if (!state || own_key(site, state->labels) != act.key)
    return Outcome(Done{.outputs = {}, .remote_id = {}, .changed = false});
  Status removed = remove_network(site.engine, name, stop);
  if (!removed && !is_cancelled(removed.error())) {
    auto left = TRY(own_containers(site, {environment_filter(act.key.environment)}, stop));
    // A container that uses another one goes before it.
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

Result<NetworkOutputs> ensure_network(const Site& site, const Key& key,
                                      const std::stop_token& stop) {
  const std::string name = network_name(key);
  Act act;
  act.key = key;
  if (const auto state = TRY(inspect_network(site.engine, name, stop)))
    return read<NetworkOutputs>(std::get<Done>(TRY(adopt_network(site, act, name, stop))).outputs);
  return read<NetworkOutputs>(std::get<Done>(TRY(make_network(site, act, stop))).outputs);
}

Status drop_empty_network(const Site& site, const Key& key, const std::string& owner,
                          const std::stop_token& stop) {
  const std::string name = network_name(key);
  const std::unique_lock lock(site.allocation.networks());
  const auto state = TRY(inspect_network(site.engine, name, stop));
  if (!state || own_key(site, state->labels) != key)
    return {};
  site.allocation.free_address(state->id, owner);
  if (site.allocation.is_used(state->id))
    return {};
  const std::string mine = cat(mark::network, "=", state->id);
  if (!TRY(own_containers(site, {environment_filter(key.environment), mine}, stop)).empty())
    return {};
  // An engine refuses if somebody has joined meanwhile.
  const Status removed = remove_network(site.engine, name, stop);
  return !removed && is_cancelled(removed.error()) ? removed : Status();
}

Result<Outcome> make_image(const Site& site, const Act& act, const ProgressSink& progress,
                           std::stop_token stop) {
  const Image wanted = read<Image>(act.attributes);
  const std::string reference = wanted.reference.get().str();
  const std::string_view digest = wanted.digest.view();
  const bool always = wanted.pull.view() == "always";
  const ImageFacts before = TRY(image_facts(site.engine, reference, stop));
  const bool is_it = digest.empty() || before.digest == digest;
  if (!before.id.empty() && is_it && !(always && digest.empty()))
    return image_done(act, before);
  const Status pulled = pull_once(site, act, progress, stop);
  // Asked for the newest, and only the one that is here can be had. Who says how often it is tried
  // wants no other.
  if (!pulled && !before.id.empty() && is_it && wanted.attempts.get() == 0 &&
      !is_cancelled(pulled.error())) {
    const std::string why =
        cat("the image `", reference, "` that is here is used: ", pulled.error().message);
    progress({.text = why});
    return image_done(act, before, why);
  }
  if (!pulled) {
    const int64_t tries = act.so_far.integer_at("tries") + 1;
    if (is_cancelled(pulled.error()) || tries >= wanted.attempts.get())
      return pulled.error();
    const Duration pause =
        std::min<Duration>(longest_pause, 1s * (int64_t{1} << std::min<int64_t>(tries - 1, 10)));
    return Outcome(Pending{.what = cat("try ", tries, " of ", wanted.attempts.get(),
                                       " failed: ", pulled.error().message),
                           .retry_after = pause,
                           .so_far = Value::dict({{"tries", tries}})});
  }
  const ImageFacts image = TRY(image_facts(site.engine, reference, stop));
  if (image.id.empty())
    return world_error(cat("`", reference, "` was pulled, but the engine does not have it"));
  return image_done(act, image);
}

Result<Outcome> make_directory(const Site& site, const Act& act, std::stop_token stop) {
  const std::string name = volume_name(act.key);
  TRY(make_own_volume(site, name, act.key, stop));
  return Outcome(Done{.outputs = write(VolumeOutputs{name}), .remote_id = name});
}

Result<Outcome> drop_directory(const Site& site, const Act& act, std::stop_token stop) {
  TRY(remove_own_volume(site, act.key, stop));
  return Outcome(Done{});
}

}  // namespace fettle
