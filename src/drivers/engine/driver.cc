#include "drivers/engine/driver.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "base/wait.h"
#include "drivers/engine/build.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/events.h"
#include "drivers/engine/files.h"
#include "drivers/engine/look.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/pod.h"
#include "drivers/engine/pod_probe.h"
#include "drivers/engine/recipes.h"
#include "drivers/engine/room.h"
#include "drivers/engine/service.h"
#include "drivers/engine/surroundings.h"
#include "drivers/engine/task.h"
#include "drivers/engine/volumes.h"
#include "kinds/artifact.h"
#include "kinds/directory.h"
#include "kinds/kinds.h"
#include "kinds/network.h"
#include "kinds/pod.h"
#include "kinds/service.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration watch_pause = 1s;

/// Makes a files artifact from files of a service.
Result<Outcome> make_artifact(const Site& site, const Act& act, std::stop_token stop) {
  const Artifact wanted = read<Artifact>(act.attributes);
  if (wanted.source.view() != "service")
    return world_error(
        cat("the engine cannot make a files artifact from source `", wanted.source.view(), "`"));
  const Record& host = *TRY(host_of(act));
  const std::string path = wanted.path.get().str();
  const std::string digest =
      TRY(take_files(site, host.remote_id, path, stop)
              .context(cat("copying `", path, "` out of `", host.applied->key.name, "`")));
  ArtifactOutputs outputs =
      act.known == nullptr ? ArtifactOutputs() : read<ArtifactOutputs>(act.known->outputs);
  const bool changed = outputs.digest != digest;
  if (outputs.uuid.empty())
    outputs.uuid = to_string(fingerprint(cat(to_string(act.key), "\n", act.key.environment)));
  outputs.digest = digest;
  outputs.etag = {};
  return Outcome(Done{.outputs = write(outputs), .remote_id = digest, .changed = changed});
}

/// Removes whatever there is of a container that should not be there.
Result<Outcome> purge_service(const Site& site, const Act& act, std::stop_token stop) {
  const bool there = !TRY(own_containers(site, key_filters(act.key), stop)).empty();
  if (there)
    TRY(remove_service(site, act, stop));
  return Outcome(Done{.outputs = Value::dict({}), .remote_id = {}, .changed = there});
}

Result<Outcome> apply_pod(const Site& site, const Act& act, const ProgressSink& progress,
                          const std::stop_token& stop) {
  switch (act.verb) {
    case Verb::stop:
      return stop_pod(site, act, stop);
    case Verb::remove:
      return remove_pod(site, act, stop);
    default:
      return bring_pod(site, act, progress, stop);
  }
}

Result<Outcome> apply_service(const Site& site, const Act& act, std::stop_token stop) {
  if (act.verb != Verb::remove && read<Service>(act.attributes).purged.get())
    return purge_service(site, act, stop);
  switch (act.verb) {
    case Verb::start:
      return start_service(site, act, stop);
    case Verb::stop:
      return stop_service(site, act, stop);
    case Verb::remove:
      return remove_service(site, act, stop);
    case Verb::update:
      return adopt_service(site, act, stop);
    default:
      return make_service(site, act, stop);
  }
}

/// What the marks tell about a resource: that it is there, and what it stands on.
Found found_resource(const Key& key, const Name& driver, std::span<const Found> grounds = {}) {
  Resource resource;
  resource.key = key;
  resource.attributes = Value::dict({});
  resource.driver = driver;
  for (const Found& ground : grounds)
    if (ground.key.environment == key.environment)
      resource.needs.push_back({.keys = {ground.key}});
  Found found{.key = key, .record = {}};
  found.record.applied = std::move(resource);
  return found;
}

Found found_service(const Key& key, const ContainerState& container, const Name& driver,
                    std::span<const Found> grounds) {
  Found found = found_resource(key, driver, grounds);
  const auto ports = read_json(label(container.labels, mark::ports));
  found.record.remote_id = container.id;
  found.record.incarnation =
      std::strtoull(label(container.labels, mark::incarnation).c_str(), nullptr, 10);
  ServiceOutputs outputs;
  outputs.uuid = label(container.labels, mark::uuid);
  outputs.ip_address = label(container.labels, mark::address);
  outputs.hostname = service_name(key);
  if (ports)
    outputs.ports = *ports;
  outputs.container = container.id;
  outputs.started = 1;
  outputs.digest = label(container.labels, mark::digest);
  found.record.outputs = write(outputs);
  return found;
}

Found found_pod(const Key& key, const ContainerState& holder, const Name& driver) {
  Found found = found_resource(key, driver);
  found.record.remote_id = holder.id;
  found.record.incarnation =
      std::strtoull(label(holder.labels, mark::incarnation).c_str(), nullptr, 10);
  PodOutputs outputs;
  outputs.uid = label(holder.labels, mark::uuid);
  outputs.ip = label(holder.labels, mark::address);
  found.record.outputs = write(outputs);
  return found;
}

}  // namespace

EngineDriver::EngineDriver(HttpClient& http, Blobs& blobs, Locate locate,
                           EngineDriverOptions options)
    : http_(http),
      blobs_(blobs),
      locate_(std::move(locate)),
      options_(std::move(options)),
      allocation_([this](int port) { return is_far_ || is_port_free(port); }),
      probes_(std::make_unique<PodProbes>()) {}
EngineDriver::~EngineDriver() = default;

Result<Engine*> EngineDriver::engine(std::stop_token stop, bool may_start) {
  const std::lock_guard lock(mutex_);
  if (located_ == nullptr) {
    located_ = std::make_unique<LocatedEngine>(http_, TRY(locate_(may_start, stop)), options_);
    is_far_ = !located_->engine.address().is_local();
  }
  return &located_->engine;
}

Status EngineDriver::ready(std::span<const Resource* const> wanted, std::stop_token stop) {
  Engine* const found = TRY(engine(stop));
  if (wanted.empty())
    return found->ping(stop);  // it may have answered long ago
  return check_room(*found, wanted, stop);
}

Result<Site> EngineDriver::site(std::stop_token stop, bool may_start) {
  Engine* const found = TRY(engine(stop, may_start));
  return Site{http_, *found, blobs_, allocation_, options_, *probes_};
}

Result<std::vector<Observation>> EngineDriver::observe(std::span<const Subject> subjects,
                                                       std::stop_token stop) {
  if (subjects.empty())
    return std::vector<Observation>();
  return look_at(TRY(site(stop)), subjects, stop);
}

Result<Outcome> EngineDriver::apply(const Act& act, const ProgressSink& progress,
                                    std::stop_token stop) {
  const Site here = TRY(site(stop));
  const Name& kind = act.key.kind;
  const bool removes = act.verb == Verb::remove;
  if (kind == "service")
    return apply_service(here, act, stop);
  if (kind == "network")
    return removes ? drop_network(here, act, stop) : make_network(here, act, stop);
  if (kind == "directory")
    return removes ? drop_directory(here, act, stop) : make_directory(here, act, stop);
  if (kind == "pod")
    return apply_pod(here, act, progress, stop);
  if (kind == "claim")
    return removes ? drop_claim(here, act, stop) : make_claim(here, act, stop);
  if (kind == "task")
    return removes ? drop_task(here, act, stop) : run_task(here, act, progress, stop);
  // For other kinds there is nothing to do but to drop the record: an image may serve other
  // environments, too. `clean` removes those that were built and serve none.
  if (removes)
    return Outcome(Done{});
  if (kind == "image")
    return make_image(here, act, progress, stop);
  if (kind == "build")
    return build_image(here, act, progress, stop);
  if (kind == "artifact")
    return make_artifact(here, act, stop);
  if (kind == "exec")
    return run_exec_act(here, act, progress, stop);
  if (kind == "request")
    return run_request_act(here, act, stop);
  if (kind == "wait")
    return run_wait_act(here, act, stop);
  if (kind == "start" || kind == "stop" || kind == "remove")
    return transition_service(here, act, stop);
  return world_error(cat("the engine cannot act on `", to_string(act.key), "`"));
}

Result<std::vector<Found>> EngineDriver::list(const Name& environment, std::stop_token stop) {
  const Site here = TRY(site(stop, false));
  const std::vector<std::string> ours{environment_filter(environment)};
  std::vector<Found> found;
  for (const NetworkState& state : TRY(own_networks(here, ours, stop))) {
    const auto key = key_in(state.labels);
    if (!key || state.subnets.empty())
      continue;
    Found network = found_resource(*key, options_.name);
    network.record.remote_id = state.id;
    network.record.outputs = write(NetworkOutputs{
        state.name, state.id, to_string(state.subnets[0]),
        state.gateway.empty() ? address_text(state.subnets[0].address + 1) : state.gateway});
    found.push_back(std::move(network));
  }
  for (const VolumeState& state : TRY(own_volumes(here, ours, stop))) {
    // Containers of a pod go with it.
    if (const auto key = key_in(state.labels); key && key->kind != "pod") {
      Found directory = found_resource(*key, options_.name);
      directory.record.remote_id = state.name;
      directory.record.outputs = write(VolumeOutputs{state.name});
      found.push_back(std::move(directory));
    }
  }
  std::map<Key, ContainerState> services;  // of the two in a change, the new one
  std::vector<Found> pods;
  for (ContainerState& state : TRY(own_containers(here, ours, stop))) {
    const auto key = key_in(state.labels);
    if (key && key->kind == "pod" && label(state.labels, mark::container).empty())
      pods.push_back(found_pod(*key, state, options_.name));
    if (key && key->kind == "service" &&
        (!services.contains(*key) || !state.name.ends_with("--old")))
      services.insert_or_assign(*key, std::move(state));
  }
  const std::vector<Found> grounds = found;
  for (const auto& [key, state] : services)
    found.push_back(found_service(key, state, options_.name, grounds));
  found.insert(found.end(), pods.begin(), pods.end());
  std::ranges::sort(found, {}, &Found::key);
  return found;
}

void EngineDriver::watch(const Name& environment, const std::function<void(const Key&)>& hint,
                         std::stop_token stop) {
  const auto here = site(stop);
  while (here && !stop.stop_requested()) {
    (void)watch_events(
        here->engine, {environment_filter(environment)},
        [&](const EngineEvent& event) {
          const auto key = own_key(*here, event.attributes);
          const bool matters = event.action == "die" || event.action == "start" ||
                               event.action == "stop" || event.action == "destroy";
          if (key && (key->kind == "service" || key->kind == "pod") && matters)
            hint(*key);
        },
        stop);
    static_cast<void>(pause_for(watch_pause, stop));
  }
}

}  // namespace fettle
