#include "drivers/engine/pod.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "base/archive.h"
#include "base/hash.h"
#include "base/text.h"
#include "drivers/engine/archives.h"
#include "drivers/engine/conflict.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/images.h"
#include "drivers/engine/pause.h"
#include "drivers/engine/pod_body.h"
#include "drivers/engine/pod_end.h"
#include "drivers/engine/pod_probe.h"
#include "drivers/engine/probe.h"
#include "drivers/engine/surroundings.h"
#include "drivers/engine/volumes.h"
#include "kinds/pod.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr Duration hook_limit = 30s;  ///< of a container that has just started

class PodAct {
 public:
  PodAct(const Site& site, const Act& act, const ProgressSink& progress,
         const std::stop_token& stop)
      : site_(site),
        act_(act),
        progress_(progress),
        stop_(stop),
        attributes_(reveal(act.attributes)),
        wanted_(pod_containers(attributes_)) {}

  /// If a pod was never there, the error says in data which image is missing.
  Result<Outcome> carry_out() {
    Result<Outcome> outcome = bring();
    if (outcome || (act_.known != nullptr && act_.known->applied) || is_cancelled(outcome.error()))
      return outcome;
    if (image_error_.is_null() && before().image_error.is_null())
      return outcome;
    return Outcome(
        Failed{std::move(outcome).error(), Value::dict({{"image_error", image_error_}})});
  }

 private:
  Result<Outcome> bring() {
    TRY(prepare());
    TRY(check_bodies());
    TRY(clear_others());
    TRY(ensure_holder());
    for (const auto step : {&PodAct::run_init, &PodAct::ensure_containers})
      if (const auto waits = TRY((this->*step)())) {
        const Duration pause = probe_pause(waited());
        return Outcome(Pending{.what = *waits,
                               .retry_after = pause,
                               .so_far = Value::dict({{"waited", (waited() + pause).count()}})});
      }
    TRY(resize());
    return done();
  }

  Duration waited() const { return instant_from_clock() - began_; }
  /// The pod's name for people: `default/web-1`.
  std::string_view shown() const { return on_node(act_.key.name).rest; }
  bool is_made_anew() const {
    return act_.verb == Verb::create || act_.verb == Verb::replace || act_.known == nullptr;
  }
  Outputs stored_outputs() const { return act_.known == nullptr ? Outputs() : act_.known->outputs; }
  /// What an earlier act left; empty when there was none.
  PodOutputs before() const {
    return act_.known == nullptr ? PodOutputs() : read<PodOutputs>(act_.known->outputs);
  }

  /// Decides on names, address and volumes.
  Status prepare() {
    began_ = instant_from_clock() - Duration(act_.so_far.integer_at("waited"));
    incarnation_ = is_made_anew() ? act_.incarnation : act_.known->incarnation;
    // Pods that earlier versions made have no uid of their own.
    const Name own = read_one<&Pod::uid>(attributes_).get();
    place_.uid = to_string(fingerprint(
        cat(act_.key.environment, "\n", own.empty() ? act_.key.name : own, "\n", incarnation_)));
    if (!is_made_anew() && !before().uid.empty())
      place_.uid = before().uid.view();
    const NodeAddress address = node_address(act_.key.name);
    name_ = container_name(cat(address.space, "-", address.name), place_.uid);
    there_ = TRY(pod_there(site_, act_.key, stop_));
    if (!uses_host_network(attributes_))
      TRY(place_in_network());
    volumes_ = TRY(pod_volumes(act_.key, attributes_, place_));
    place_.is_podman = TRY(site_.engine.flavour(stop_)) == Engine::Flavour::podman;
    return {};
  }

  /// The network that the pod needs, else that of its namespace, which is made with its first pod.
  Status place_in_network() {
    const Record* const needed = act_.need("network");
    const std::shared_lock lock(site_.allocation.networks());
    const NetworkOutputs network = needed != nullptr
                                       ? read<NetworkOutputs>(needed->outputs)
                                       : TRY(ensure_network(site_, pod_network(act_.key), stop_));
    const auto subnet = parse_subnet(network.subnet.view());
    if (!subnet)
      return world_error("the record of the network has no address range");
    place_.network = network.name.str();
    network_id_ = network.id.str();
    place_.host_address = network.gateway.str();
    if (!site_.allocation.knows(network_id_))
      site_.allocation.learn(
          network_id_,
          TRY(own_containers(site_, {environment_filter(act_.key.environment)}, stop_)));
    place_.address = TRY(site_.allocation.address(network_id_, *subnet, place_.host_address,
                                                  pod_owner(act_.key), before().ip));
    return {};
  }

  bool is_of_this(const ContainerState& state) const {
    return label(state.labels, mark::incarnation) == std::to_string(incarnation_) ||
           (!is_made_anew() && state.id == act_.known->remote_id);
  }

  /// Removes what another incarnation left, and a holder that is made from something else.
  Status clear_others() {
    PodThere others;
    const std::string digest = to_string(holder_digest(attributes_));
    std::erase_if(there_.holders, [&](const ContainerState& state) {
      const bool is_other = !is_of_this(state) || label(state.labels, mark::digest) != digest;
      if (is_other)
        others.holders.push_back(state);
      return is_other;
    });
    const std::string holder = there_.holders.empty() ? "" : there_.holders[0].id;
    std::erase_if(there_.containers, [&](const ContainerState& state) {
      const bool is_other = holder.empty() || label(state.labels, mark::holder) != holder;
      if (is_other)
        others.containers.push_back(state);
      return is_other;
    });
    if (others.holders.empty() && others.containers.empty())
      return {};
    TRY(clear_pod(site_, others, reveal(attributes_then(act_)), place_.address, stop_));
    if (holder.empty())
      TRY(remove_pod_volumes(site_, act_.key, stop_));
    return {};
  }

  Labels labels(std::string_view digest) const {
    Labels labels = own_marks(site_, act_.key);
    labels.emplace_back(mark::incarnation, std::to_string(incarnation_));
    labels.emplace_back(mark::digest, digest);
    return labels;
  }

  /// Checks the requests to the engine first: nothing begins for a pod that is not possible.
  Status check_bodies() {
    for (const PodContainer& container : wanted_)
      TRY(container_body(attributes_, container, place_, volumes_, {}));
    return {};
  }

  Status ensure_volumes() {
    for (const PodVolume& volume : volumes_)
      if (volume.sort != PodVolume::Sort::folder && volume.sort != PodVolume::Sort::claim)
        TRY(make_own_volume(site_, volume.there, act_.key, stop_,
                            volume.sort == PodVolume::Sort::memory));
    return {};
  }

  Status ensure_holder() {
    TRY(clear_cut_off());
    const bool is_new = there_.holders.empty();
    if (is_new) {
      TRY(ensure_pause_image(site_.engine, stop_));
      TRY(ensure_volumes());
      place_.holder =
          TRY(create_holder().context(cat("creating the holder container of pod `", shown(), "`")));
    } else {
      place_.holder = there_.holders[0].id;
    }
    if (is_made_anew() || is_new || !act_.known->applied ||
        read_one<&Pod::configs>(attributes_then(act_)) != read_one<&Pod::configs>(act_.attributes))
      TRY(fill_volumes());
    if (is_new || !there_.holders[0].runs()) {
      // Containers on a holder that has ended have to join the new one.
      for (const ContainerState& state : there_.containers)
        TRY(end_pod_container(site_, state, attributes_, place_.address, stop_));
      for (ContainerState& state : there_.containers)
        state.status = state.status == "created" ? "created" : "exited";
      rejoin_ = !there_.containers.empty();
      Status started = start_container(site_.engine, place_.holder, stop_);
      if (!started)
        started = start_another_holder(std::move(started).error());
      TRY(std::move(started).context(cat("starting the holder container of pod `", shown(), "`")));
    }
    return {};
  }

  /// A holder that is on no network cannot get its address there again.
  Status clear_cut_off() {
    if (there_.holders.empty())
      return {};
    const auto state = TRY(inspect_container(site_.engine, there_.holders[0].id, stop_));
    return state && is_cut_off(*state) ? clear_there() : Status();
  }
  /// The containers on a holder go with it; volumes stay.
  Status clear_there() {
    changed_ = true;
    TRY(clear_pod(site_, there_, attributes_, place_.address, stop_));
    there_ = {};
    rejoin_ = false;
    return {};
  }

  /// If an engine refuses to start a holder, another one takes its place: with another address if
  /// that is taken, or on a recreated network if that has gone.
  Status start_another_holder(Error error) {
    constexpr int tries = 3;
    const bool is_new = there_.holders.empty();
    for (int i = 1;; ++i) {
      const bool is_taken = what_is_taken(error) == EngineConflict::address;
      const bool may_help = is_taken || may_renew_network(error) || (i == 1 && !is_new);
      if (is_cancelled(error) || error.unknown_outcome || i == tries || !may_help)
        return error;
      if (is_taken)
        site_.allocation.give_up_address(network_id_, pod_owner(act_.key));
      TRY(clear_there());
      TRY(remove_container(site_.engine, place_.holder, stop_));
      if (!uses_host_network(attributes_))
        TRY(place_in_network());
      TRY(ensure_volumes());
      place_.holder = TRY(create_holder());
      TRY(fill_volumes());
      const Status started = start_container(site_.engine, place_.holder, stop_);
      if (started)
        return {};
      error = started.error();
    }
  }

  /// Recreates the network of its namespace if somebody has removed it meanwhile.
  Result<std::string> create_holder() {
    constexpr int tries = 3;
    for (int i = 1;; ++i) {
      Labels own = labels(to_string(holder_digest(attributes_)));
      own.emplace_back(mark::uuid, place_.uid);
      own.emplace_back(mark::address, place_.address);
      own.emplace_back(mark::network, network_id_);
      auto created = create(name_, TRY(holder_body(attributes_, place_, volumes_, own)));
      if (created || i == tries || !may_renew_network(created.error()))
        return created;
      TRY(place_in_network());
    }
  }

  /// Whether it failed because a network of ours is missing. Podman says so when the holder is
  /// created, Docker when it is started.
  bool may_renew_network(const Error& error) const {
    const std::string said = lower_case(error.message);
    return act_.need("network") == nullptr && said.find("network") != said.npos &&
           said.find("not found") != said.npos;
  }

  Result<std::string> create(const std::string& name, const Value& body) {
    CreatedContainer created = TRY(create_container(site_.engine, name, body, stop_));
    if (created.name_taken) {
      const auto other = TRY(inspect_container(site_.engine, name, stop_));
      if (other && own_key(site_, other->labels) != act_.key)
        return world_error(
            cat("the name `", name, "` is taken by a container that fettle did not create"));
      TRY(remove_container(site_.engine, name, stop_));
      created = TRY(create_container(site_.engine, name, body, stop_));
    }
    if (created.name_taken)
      return world_error(cat("the name `", name, "` is not available"));
    return created.id;
  }

  Status fill_volumes() {
    for (const PodVolume& volume : volumes_) {
      if (volume.sort != PodVolume::Sort::files || volume.files.empty())
        continue;
      std::string tar;
      ArchiveWriter writer([&](std::string_view bytes) -> Status {
        tar += bytes;
        return {};
      });
      std::set<std::string> folders;
      for (const auto& [path, text] : volume.files) {
        for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
          if (folders.insert(path.substr(0, slash)).second)
            TRY(writer.add({.path = path.substr(0, slash),
                            .type = ArchiveEntry::Type::directory,
                            .mode = 0755}));
        TRY(writer.add_file(path, text, volume.modes.at(path)));
      }
      TRY(writer.finish());
      TRY(put_archive(site_.engine, place_.holder, cat("/volumes/", volume.name),
                      source_of(std::move(tar)), stop_)
              .context(cat("filling volume `", volume.name, "`")));
    }
    return {};
  }

  /// The container of a name that is as wanted. Null: there is none.
  const ContainerState* as_wanted(const PodContainer& container) const {
    for (const ContainerState& state : there_.containers)
      if (label(state.labels, mark::container) == container.name &&
          label(state.labels, mark::digest) == to_string(container.digest))
        return &state;
    return nullptr;
  }

  std::vector<const ContainerState*> others_of(const PodContainer& container) const {
    std::vector<const ContainerState*> found;
    for (const ContainerState& state : there_.containers)
      if (label(state.labels, mark::container) == container.name && &state != as_wanted(container))
        found.push_back(&state);
    return found;
  }

  /// Pulls the image if it is missing, as the policy says.
  Status ensure_image(const PodContainer& container) {
    const std::string_view said = container.spec.text_at("imagePullPolicy");
    const auto [name, tag] = split_reference(container.image);
    const std::string_view policy = !said.empty()     ? said
                                    : tag == "latest" ? "Always"
                                                      : "IfNotPresent";
    const bool is_there = !TRY(image_id(site_.engine, container.image, stop_)).empty();
    if (is_there && policy != "Always")
      return {};
    if (policy == "Never")
      return lacks(
          container, "ErrImageNeverPull",
          world_error(cat("the image `", container.image, "` of container `", container.name,
                          "` is missing, and `imagePullPolicy` is `Never`")));
    Status pulled = pull_with_logins(site_.engine, container.image, given_logins(container.image),
                                     site_.options.login, progress_, stop_);
    return pulled ? pulled : lacks(container, "ErrImagePull", std::move(pulled).error());
  }

  /// `reason`: the kubelet's word.
  Error lacks(const PodContainer& container, std::string_view reason, Error error) {
    image_error_ = Value::dict({{"image", container.image}, {"reason", reason}});
    return error;
  }

  /// Those of the pod's secrets for the image's registry.
  std::vector<RegistryLogin> given_logins(const std::string& image) const {
    std::vector<RegistryLogin> logins;
    const Dict configs = read_one<&Pod::configs>(attributes_);
    const Value spec = pod_spec(attributes_);
    for (const Value& secret : items_of(spec.at("imagePullSecrets")))
      for (RegistryLogin& login :
           logins_in(configs.at(cat("Secret/", secret.text_at("name"))), registry_of(image)))
        logins.push_back(std::move(login));
    return logins;
  }

  /// Finds the folders of the volumes of which the container mounts parts.
  Status find_folders(const PodContainer& container) {
    if (const Value& mounts = container.spec.at("volumeMounts"); mounts.is_list())
      for (const Value& mount : mounts.items())
        if (const auto volume =
                std::ranges::find(volumes_, mount.text_at("name"), &PodVolume::name);
            volume != volumes_.end() && volume->sort == PodVolume::Sort::files &&
            volume->folder.empty() && !mount.text_at("subPath").empty())
          volume->folder = TRY(volume_folder(site_.engine, volume->there, stop_));
    return {};
  }

  Result<std::string> create(const PodContainer& container, int64_t restarts) {
    const std::string digest = to_string(container.digest);
    Labels own = labels(digest);
    own.emplace_back(mark::container, container.name);
    own.emplace_back(mark::holder, place_.holder);
    own.emplace_back(mark::restarts, std::to_string(restarts));
    restarts_[container.name] = restarts;
    TRY(find_folders(container));
    const Value body = TRY(container_body(attributes_, container, place_, volumes_, own));
    return create(cat(name_, "--", container.name, "--", digest.substr(0, 8)), body);
  }

  /// None: all init containers have ended well. Otherwise the text says what is waited for.
  Result<std::optional<std::string>> run_init() {
    const bool has_begun = std::ranges::any_of(there_.containers, [&](const ContainerState& state) {
      return std::ranges::any_of(wanted_, [&](const PodContainer& each) {
        return each.sort == PodContainer::Sort::plain &&
               each.name == label(state.labels, mark::container);
      });
    });
    for (const PodContainer& container : wanted_) {
      if (container.sort == PodContainer::Sort::plain || has_begun)
        break;
      if (container.sort == PodContainer::Sort::sidecar) {
        TRY(ensure(container));
        continue;
      }
      const ContainerState* const known = as_wanted(container);
      std::string id = known == nullptr ? std::string() : known->id;
      if (id.empty()) {
        TRY(ensure_image(container));
        id = TRY(create(container, 0));
      }
      if (known == nullptr || known->status == "created")
        TRY(start_container(site_.engine, id, stop_)
                .context(cat("starting init container `", container.name, "`")));
      if (auto waits = TRY(await_end(container, id)))
        return waits;
    }
    return std::optional<std::string>();
  }

  Result<std::optional<std::string>> await_end(const PodContainer& container,
                                               const std::string& id) {
    const auto state = TRY(inspect_container(site_.engine, id, stop_));
    if (!state)
      return world_error(cat("init container `", container.name, "` is gone"));
    const int64_t code = state->exit_code.value_or(-1);
    if (state->status == "exited" && code == 0)
      return std::optional<std::string>();
    if (state->status == "exited" && pod_restart_policy(attributes_) == "Never") {
      const std::string lines = last_log_lines(site_.engine, id, shown_log_lines, stop_);
      return world_error(
          cat("init container `", container.name, "` of pod `", shown(), "` ended with exit code ",
              code, lines.empty() ? "; it printed nothing" : "; its last lines are:\n", lines));
    }
    if (state->status == "exited" && state->restarts == 0 && waited() > 5s)
      TRY(start_container(site_.engine, id, stop_));  // the engine has given it up
    return std::optional(
        cat("init container `", container.name, "` of `", shown(), "` has not ended"));
  }

  /// None: all run. Otherwise the text says what is waited for.
  Result<std::optional<std::string>> ensure_containers() {
    for (const PodContainer& container : wanted_)
      if (container.stays() && as_wanted(container) == nullptr)
        TRY(ensure_image(container));
    const std::map<Name, int64_t> priorities = is_made_anew()
                                                   ? launch_priorities(pod_template_of(attributes_))
                                                   : std::map<Name, int64_t>();
    // The containers by launch priority, the highest first; containers without one have 0.
    std::map<int64_t, std::vector<const PodContainer*>, std::greater<>> batches;
    for (const PodContainer& container : wanted_)
      if (container.stays()) {
        const auto priority = priorities.find(Name(container.name));
        batches[priority == priorities.end() ? 0 : priority->second].push_back(&container);
      }
    for (const auto& [priority, batch] : batches) {
      for (const PodContainer* const container : batch)
        TRY(ensure(*container));
      if (priority != batches.rbegin()->first)
        for (const PodContainer* const container : batch)
          if (!TRY(is_ready(*container)))
            return std::optional(cat("container `", container->name, "` of `", shown(),
                                     "` is not ready, and others start after it"));
    }
    return std::optional<std::string>();
  }

  Result<bool> is_ready(const PodContainer& container) {
    const std::string& id = ids_.at(container.name);
    const auto state = TRY(inspect_container(site_.engine, id, stop_));
    if (!state || !state->runs())
      return false;
    return TRY(site_.probes.ask(site_, {id, place_.address, container.spec}, waited(), stop_))
        .ready;
  }

  bool is_to_run(const ContainerState& state, const PodContainer& container) const {
    const std::string_view policy = pod_restart_policy(attributes_);
    if (state.status == "created" || rejoin_ || act_.verb == Verb::start ||
        container.sort == PodContainer::Sort::sidecar)
      return true;
    return policy == "Always" || (policy == "OnFailure" && state.exit_code != 0);
  }

  /// Makes a container run: it is made on the holder and started in place of its predecessor.
  Status ensure(const PodContainer& container) {
    if (ids_.contains(container.name))
      return {};  // a sidecar that ran before the init containers behind it
    const int64_t restarts = TRY(end_dead(container));
    const ContainerState* const known = as_wanted(container);
    const std::vector<const ContainerState*> others = others_of(container);
    if (known != nullptr && (known->runs() || known->status == "restarting") && !rejoin_) {
      TRY(remove_others(others));
      const bool is_told = before().containers.value().text_at(container.name) ==
                           container_uri(place_.is_podman, known->id);
      ids_[container.name] = known->id;
      return is_told ? Status() : tell_started(container, known->id);
    }
    if (known != nullptr && known->status == "exited" && !is_to_run(*known, container)) {
      ids_[container.name] = known->id;
      return remove_others(others);
    }
    std::string id = known == nullptr ? std::string() : known->id;
    if (id.empty()) {
      if (container.sort == PodContainer::Sort::sidecar)
        TRY(ensure_image(container));
      id = TRY(create(container, std::max({restarts, TRY(restarts_after(others)),
                                           restarts_of_what_is_gone(container)})));
    } else if (known->status != "created") {
      restarts_[container.name] = TRY(restarts_after({known}));
    }
    for (const ContainerState* const other : others)
      TRY(end_pod_container(site_, *other, attributes_, place_.address, stop_));
    changed_ = true;
    Status started = start_container(site_.engine, id, stop_);
    if (!started && known != nullptr && !is_cancelled(started.error()) &&
        !started.error().unknown_outcome) {
      // What it was made with is not there any more: another one is made, or that is the error.
      TRY(remove_container(site_.engine, id, stop_));
      id = TRY(create(container, restarts_[container.name]));
      started = start_container(site_.engine, id, stop_);
    }
    if (!started)
      return give_back(container, id, others, std::move(started).error());
    TRY(remove_others(others));
    ids_[container.name] = id;
    return tell_started(container, id);
  }

  /// Removes a container whose liveness probe has failed, so that another one is made. Returns how
  /// often it was started by then; 0: it lives.
  Result<int64_t> end_dead(const PodContainer& container) {
    const ContainerState* const known = as_wanted(container);
    if (known == nullptr || !known->runs() || !site_.probes.is_dead(known->id, container.spec))
      return 0;
    changed_ = true;
    const int64_t restarts = TRY(restarts_after({known}));
    TRY(end_pod_container(site_, *known, attributes_, place_.address, stop_));
    TRY(remove_container(site_.engine, known->id, stop_));
    std::erase_if(there_.containers,
                  [id = known->id](const ContainerState& state) { return state.id == id; });
    return restarts;
  }

  /// How often it was started before, plus this time.
  Result<int64_t> restarts_after(const std::vector<const ContainerState*>& others) {
    int64_t most = 0;
    for (const ContainerState* const other : others) {
      const auto state = TRY(inspect_container(site_.engine, other->id, stop_));
      const int64_t earlier = pod_restarts(stored_outputs(), *other);
      most = std::max(most, earlier + (state ? state->restarts : 0) + 1);
    }
    return most;
  }

  /// A container that somebody removed was started before, too.
  int64_t restarts_of_what_is_gone(const PodContainer& container) const {
    const bool was_there = !is_made_anew() && act_.known->applied &&
                           before().containers.find(container.name) != nullptr;
    return was_there ? before().restarts.value().integer_at(container.name) + 1 : 0;
  }

  Status remove_others(const std::vector<const ContainerState*>& others) {
    for (const ContainerState* const other : others) {
      changed_ = true;
      TRY(end_pod_container(site_, *other, attributes_, place_.address, stop_));
      TRY(remove_container(site_.engine, other->id, stop_));
    }
    return {};
  }

  /// Starts the former container again, if possible.
  Error give_back(const PodContainer& container, const std::string& id,
                  const std::vector<const ContainerState*>& others, Error error) {
    if (is_cancelled(error) || error.unknown_outcome)
      return error;
    const std::stop_token none;
    error = std::move(error).context(
        cat("starting container `", container.name, "` of pod `", shown(), "`"));
    if (!site_.options.rollback || others.empty())
      return error;
    Status undone = remove_container(site_.engine, id, none);
    if (undone)
      undone = start_container(site_.engine, others.back()->id, none);
    error.message +=
        undone ? "; the previous container runs again"
               : cat("; the previous container cannot be restored: ", to_string(undone.error()));
    return error;
  }

  /// Calls its hook after the start, at least once.
  Status tell_started(const PodContainer& container, const std::string& id) {
    const Value& hook = container.spec.at("lifecycle").at("postStart");
    if (!hook.is_dict())
      return {};
    const auto complaint =
        TRY(try_handler(site_, hook, {id, place_.address, container.spec}, hook_limit, stop_));
    if (!complaint)
      return {};
    TRY(stop_container(site_.engine, id, pod_grace(attributes_), stop_));
    return world_error(cat("`postStart` of container `", container.name, "` of pod `", shown(),
                           "` failed: ", *complaint));
  }

  /// Changes limits while a container runs.
  Status resize() {
    if (act_.known == nullptr || !act_.known->applied)
      return {};
    const auto then = pod_containers(attributes_then(act_));
    for (const PodContainer& container : wanted_) {
      const auto old = std::ranges::find(then, container.name, &PodContainer::name);
      const ContainerState* const there = as_wanted(container);
      if (old == then.end() || there == nullptr || !container.stays() ||
          pod_limits(old->spec) == pod_limits(container.spec))
        continue;
      const PodLimits limits = pod_limits(container.spec);
      changed_ = true;
      TRY(limit_container(site_.engine, there->id, limits.memory, limits.nano_cpus, stop_)
              .context(cat("resizing container `", container.name, "`")));
    }
    return {};
  }

  /// Since when each of its conditions is as it is.
  Value gates() const {
    const Dict conditions = read_one<&Pod::conditions>(attributes_);
    std::vector<Entry> gates;
    for (const Entry& entry : conditions.entries()) {
      const bool is_same =
          !is_made_anew() && act_.known->applied &&
          read_one<&Pod::conditions>(attributes_then(act_)).at(entry.key) == entry.value;
      const Value since = before().gates.at(entry.key);
      gates.push_back({entry.key, !is_same          ? to_string(now_from_clock())
                                  : since.is_null() ? to_string(act_.known->finished)
                                                    : std::string(since.text())});
    }
    return Value::dict(std::move(gates));
  }

  int64_t restarts_now(const PodContainer& container) const {
    const auto found = restarts_.find(container.name);
    return found != restarts_.end() ? found->second
           : is_made_anew()         ? 0
                                    : before().restarts.value().integer_at(container.name);
  }

  Result<Outcome> done() {
    std::vector<Entry> ids;
    for (const auto& [name, id] : ids_)
      ids.push_back({name, container_uri(place_.is_podman, id)});
    const Value known = before().started;
    const bool is_same = !is_made_anew() && known.is_text() && !known.text().empty();
    std::vector<Entry> restarts;
    for (const PodContainer& container : wanted_)
      if (const int64_t count = restarts_now(container); count > 0)
        restarts.push_back({container.name, count});
    const bool changed = changed_ || is_made_anew() || act_.known->remote_id != place_.holder;
    PodOutputs outputs;
    outputs.uid = place_.uid;
    outputs.ip = place_.address;
    outputs.started = is_same ? known : Value(to_string(now_from_clock()));
    outputs.gates = gates();
    outputs.containers = Value::dict(std::move(ids));
    outputs.restarts = Value::dict(std::move(restarts));
    return Outcome(Done{.outputs = write(outputs), .remote_id = place_.holder, .changed = changed});
  }

  const Site& site_;
  const Act& act_;
  const ProgressSink& progress_;
  const std::stop_token& stop_;
  const Attributes attributes_;
  const std::vector<PodContainer> wanted_;
  Instant began_;
  uint64_t incarnation_ = 0;
  PodPlace place_;
  std::string name_, network_id_;
  PodThere there_;
  std::vector<PodVolume> volumes_;
  std::map<std::string, std::string> ids_;
  std::map<std::string, int64_t> restarts_;  ///< of containers that were started again or recreated
  bool rejoin_ = false, changed_ = false;
  Value image_error_;  ///< the missing image, and why; null: none is missing
};

}  // namespace

Result<Outcome> bring_pod(const Site& site, const Act& act, const ProgressSink& progress,
                          const std::stop_token& stop) {
  return PodAct(site, act, progress, stop).carry_out();
}

}  // namespace fettle
