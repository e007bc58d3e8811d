#include "drivers/engine/look.h"

#include <map>
#include <set>
#include <unordered_map>

#include "base/at_once.h"
#include "base/text.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/images.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/pod_look.h"
#include "drivers/engine/volumes.h"
#include "kinds/artifact.h"
#include "kinds/build.h"
#include "kinds/directory.h"
#include "kinds/engine_needs.h"
#include "kinds/image.h"
#include "kinds/kinds.h"
#include "kinds/network.h"
#include "kinds/service.h"
#include "value/with.h"

namespace fettle {
namespace {

constexpr size_t most_looks = 16;  ///< questions at once

/// Empty: nobody knows yet what will fill a hole.
std::string reference_of(const Subject& subject) {
  const Resource* resource = subject.wanted;
  if (resource == nullptr && subject.known != nullptr && subject.known->applied)
    resource = &*subject.known->applied;
  if (resource == nullptr)
    return full_reference(subject.key.name);
  const Hole<Name> wanted = read<Image>(resource->attributes).reference;
  const Name known =
      subject.known == nullptr ? Name() : read<ImageOutputs>(subject.known->outputs).reference;
  const Name reference = wanted.has_hole() ? known
                         : wanted.empty()  ? subject.key.name
                                           : wanted.get();
  return reference.empty() ? std::string() : full_reference(reference);
}

std::string id_of_build(const Subject& subject) {
  const Value id =
      subject.known == nullptr ? Value() : read<ImageBuildOutputs>(subject.known->outputs).id;
  return id.is_text() ? id.text().str() : std::string();
}

class Look {
 public:
  Look(const Site& site, Name environment, const std::stop_token& stop)
      : site_(site), environment_(std::move(environment)), stop_(stop) {}

  /// Asks the questions that are about all of them together.
  Status ask(std::span<const Subject> subjects) {
    bool containers = false, volumes = false;
    for (const Subject& subject : subjects) {
      containers |= subject.key.kind == "service" || subject.key.kind == "pod";
      volumes |= subject.key.kind == "directory" || subject.key.kind == "claim";
      if (subject.key.kind == "image")
        if (std::string reference = reference_of(subject); !reference.empty())
          images_[std::move(reference)];
      if (subject.key.kind == "build")
        if (const std::string id = id_of_build(subject); !id.empty())
          builds_[id];
    }
    const std::vector<std::string> ours{environment_filter(environment_)};
    std::vector<Task> questions;
    if (containers)
      questions.emplace_back([&](const std::stop_token& stop) -> Status {
        containers_ = TRY(own_containers(site_, ours, stop));
        return {};
      });
    if (volumes)
      questions.emplace_back([&](const std::stop_token& stop) -> Status {
        for (VolumeState& volume : TRY(own_volumes(site_, ours, stop)))
          volumes_.insert(std::move(volume.name));
        return {};
      });
    for (auto& [reference, id] : images_)
      questions.emplace_back([&](const std::stop_token& stop) -> Status {
        id = TRY(image_id(site_.engine, reference, stop)
                     .context(cat("looking for the image `", reference, "`")));
        return {};
      });
    for (auto& [id, is_there] : builds_)
      questions.emplace_back([&](const std::stop_token& stop) -> Status {
        is_there = !TRY(image_id(site_.engine, id, stop)).empty();
        return {};
      });
    TRY(do_at_once(questions, most_looks, stop_));
    artifacts_ = TRY(site_.blobs.find_all(digests_of_artifacts(subjects)));
    if (containers_)
      sort_containers();
    TRY(ask_lives(subjects));
    return ask_pods(subjects);
  }

  Result<Observation> at(const Subject& subject) {
    const Name& kind = subject.key.kind;
    if (kind == "service")
      return service(subject);
    if (kind == "image")
      return image(subject);
    if (kind == "build")
      return build(subject);
    if (kind == "network")
      return network(subject);
    if (kind == "directory" || kind == "claim")
      return directory(subject);
    if (kind == "pod")
      return seen_pods_.at(subject.key.name);
    if (kind == "artifact")
      return artifact(subject);
    return world_error(cat("the engine cannot look at `", to_string(subject.key), "`"));
  }

 private:
  /// Finds out when containers in which something happened were started, all at once: a list does
  /// not say.
  Status ask_lives(std::span<const Subject> subjects) {
    for (const Subject& subject : subjects)
      if (const auto found = services_.find(subject.key.name);
          subject.asks_life && subject.key.kind == "service" && found != services_.end())
        for (const ContainerState* const state : found->second)
          if (state->runs())
            lives_[state->id];
    std::vector<Task> questions;
    for (auto& [id, life] : lives_)
      questions.emplace_back([this, &id, &life](const std::stop_token& stop) -> Status {
        life = TRY(life_of(site_.engine, id, stop));
        return {};
      });
    return do_at_once(questions, most_looks, stop_);
  }

  /// Looks at all pods at once: each takes several questions and may be probed.
  Status ask_pods(std::span<const Subject> subjects) {
    std::vector<Task> questions;
    for (const Subject& subject : subjects) {
      if (subject.key.kind != "pod")
        continue;
      Observation& seen = seen_pods_[subject.key.name];
      questions.emplace_back([this, &subject, &seen, &states = pods_[subject.key.name]](
                                 const std::stop_token& stop) -> Status {
        seen = TRY(look_at_pod(site_, subject, states, stop));
        return {};
      });
    }
    return do_at_once(questions, most_looks, stop_);
  }

  void sort_containers() {
    for (const ContainerState& container : *containers_) {
      const auto key = key_in(container.labels);
      if (key && key->kind == "service")
        services_[key->name].push_back(&container);
      if (key && key->kind == "pod")
        pods_[key->name].push_back(&container);
      const std::string id = label(container.labels, mark::network);
      if (id.empty())
        continue;
      if (networks_.insert(id).second)
        site_.allocation.learn(id, *containers_);
      if (container.runs() && !is_cut_off(container))
        live_networks_.insert(id);
    }
  }

  Result<Observation> service(const Subject& subject) {
    const auto found = services_.find(subject.key.name);
    if (found == services_.end())
      return Observation{};
    // While one container replaces another, there are two: the recorded one counts.
    const ContainerState* state = found->second[0];
    for (const ContainerState* const other : found->second) {
      const bool recorded = subject.known != nullptr && other->id == subject.known->remote_id;
      if (recorded || (!other->name.ends_with("--old") && state->name.ends_with("--old")))
        state = other;
      if (recorded)
        break;
    }
    std::optional<int64_t> code = state->exit_code;
    std::optional<ContainerState> stopped;  // a list says less about these
    if (!state->runs())
      stopped = TRY(inspect_container(site_.engine, state->id, stop_));
    if (stopped && state->status == "exited" && !code)
      code = stopped->exit_code;
    const auto life = lives_.find(state->id);
    const bool attached = state->runs() || ((!stopped || !is_cut_off(*stopped, own_network())) &&
                                            TRY(has_network(label(state->labels, mark::network))));
    Observation seen{State(
        write(ServiceSeen{.status = attached ? Name(state->status) : Name("unattached"),
                          .exit_code = code,
                          .container = state->id,
                          .digest = label(state->labels, mark::digest),
                          .is_cut_off = state->runs() && is_cut_off(*state, own_network())}))};
    seen.life = life == lives_.end() ? 0 : life->second;
    return seen;
  }

  /// Both engines list networks by name. Docker has the id beside it, Podman the name again.
  std::string own_network() const {
    return network_name({environment_, "network", environment_network});
  }

  /// A container that runs on the network proves that it is there; otherwise the engine is asked.
  Result<bool> has_network(const std::string& id) {
    if (id.empty() || live_networks_.contains(id))
      return true;
    if (!asked_for_networks_)
      for (const NetworkState& state :
           TRY(own_networks(site_, {environment_filter(environment_)}, stop_)))
        live_networks_.insert(state.id);
    asked_for_networks_ = true;
    return live_networks_.contains(id);
  }

  Result<Observation> image(const Subject& subject) const {
    const auto id = images_.find(reference_of(subject));
    return id == images_.end() || id->second.empty()
               ? Observation{}
               : Observation{State(write(ImageSeen{id->second}))};
  }

  /// An image of a build is known by its id: its name may mean another one by now.
  Result<Observation> build(const Subject& subject) const {
    const std::string id = id_of_build(subject);
    const auto found = builds_.find(id);
    return found == builds_.end() || !found->second
               ? Observation{}
               : Observation{State(write(ImageBuildOutputs{.id = id}))};
  }

  Result<Observation> network(const Subject& subject) {
    if (containers_ && subject.known != nullptr &&
        live_networks_.contains(subject.known->remote_id))
      return Observation{State(write(read<NetworkOutputs>(subject.known->outputs)))};
    const auto state = TRY(inspect_network(site_.engine, network_name(subject.key), stop_));
    if (state && containers_)
      site_.allocation.learn(state->id, *containers_);
    if (!state || state->subnets.empty() || own_key(site_, state->labels) != subject.key)
      return Observation{};
    const Subnet subnet = state->subnets[0];
    return Observation{State(write(NetworkOutputs{
        state->name, state->id, to_string(subnet),
        state->gateway.empty() ? address_text(subnet.address + 1) : state->gateway}))};
  }

  Result<Observation> directory(const Subject& subject) const {
    const std::string name = volume_name(subject.key);
    return volumes_.contains(name) ? Observation{State(write(VolumeOutputs{name}))} : Observation{};
  }

  Result<Observation> artifact(const Subject& subject) const {
    const Name digest = digest_of_artifact(subject);
    if (!artifacts_.contains(digest.view()))
      return Observation{};
    return Observation{State(write(ArtifactSeen{digest}))};
  }

  const Site& site_;
  Name environment_;
  const std::stop_token& stop_;
  std::optional<std::vector<ContainerState>> containers_;
  std::map<std::string, std::string> images_;  ///< the id by reference; empty: not there
  std::map<std::string, bool> builds_;         ///< whether it is there, by id
  std::map<std::string, uint64_t> lives_;      ///< of containers that run, by id
  std::set<std::string> volumes_;
  DigestSet artifacts_;  ///< contents that are there
  std::unordered_map<Name, std::vector<const ContainerState*>> services_;
  std::unordered_map<Name, std::vector<const ContainerState*>> pods_;
  std::unordered_map<Name, Observation> seen_pods_;
  std::set<std::string> networks_, live_networks_;  ///< marks; those that are there
  bool asked_for_networks_ = false;
};

}  // namespace

Result<std::vector<Observation>> look_at(const Site& site, std::span<const Subject> subjects,
                                         const std::stop_token& stop) {
  std::vector<Observation> seen;
  if (subjects.empty())
    return seen;
  Look look(site, subjects[0].key.environment, stop);
  TRY(look.ask(subjects));
  for (const Subject& subject : subjects)
    seen.push_back(TRY(look.at(subject)));
  return seen;
}

}  // namespace fettle
