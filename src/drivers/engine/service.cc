#include "drivers/engine/service.h"

#include <algorithm>

#include "base/text.h"
#include "drivers/engine/conflict.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/files.h"
#include "drivers/engine/probe.h"
#include "drivers/engine/service_body.h"
#include "kinds/engine_needs.h"
#include "kinds/network.h"
#include "kinds/service.h"
#include "kinds/transition.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr Duration connect_limit = 200ms;
constexpr Duration first_look = 200ms;  ///< without an open port, at the container itself
constexpr int start_tries = 3;

std::string port_owner(const Key& key, const std::string& port) {
  return cat(key.environment, "/", key.name, "/", port);
}

/// Decisions about a service before anything is done.
struct Wish {
  Service service;
  std::string uuid, name;
  Placement placement;
};

/// The outputs of the container that was there before; empty when there was none.
ServiceOutputs outputs_before(const Act& act) {
  return act.known == nullptr ? ServiceOutputs() : read<ServiceOutputs>(act.known->outputs);
}

/// They as they are stored.
Outputs stored_outputs(const Act& act) {
  return act.known == nullptr ? Outputs() : act.known->outputs;
}

bool is_pinned(const Service& service, std::string_view port) {
  return service.public_ports.find(port) != nullptr;
}

Status learn_addresses(const Site& site, const Act& act, const std::string& network_id,
                       const std::stop_token& stop) {
  if (site.allocation.knows(network_id))
    return {};
  const auto there = TRY(own_containers(site, {environment_filter(act.key.environment)}, stop));
  site.allocation.learn(network_id, there);
  return {};
}

Status choose_ports(const Site& site, const Act& act, Wish& wish) {
  const Dict before = outputs_before(act).ports;
  for (const ServicePort& port : ports_of(wish.service)) {
    if (!is_published(wish.service, port))
      continue;
    const std::string owner = port_owner(act.key, port.id);
    const Value& pinned = wish.service.public_ports.at(port.id);
    if (pinned.is_dict()) {
      const int number = static_cast<int>(read<Port>(pinned).number.get());
      site.allocation.hold_port(owner, number);
      wish.placement.public_ports[port.id] = number;
      continue;
    }
    const int kept =
        static_cast<int>(read<PortOutputs>(before.at(port.id)).public_port.value_or(0));
    if (kept > 0)
      site.allocation.hold_port(owner, kept);
    wish.placement.public_ports[port.id] = TRY(site.allocation.port(owner, kept));
  }
  return {};
}

void mark_container(const Site& site, const Act& act, Wish& wish) {
  Labels& labels = wish.placement.labels = own_marks(site, act.key);
  const auto add = [&](std::string_view name, std::string value) {
    labels.emplace_back(std::string(name), std::move(value));
  };
  add(mark::uuid, wish.uuid);
  add(mark::incarnation, std::to_string(act.incarnation));
  add(mark::digest, to_string(act.attributes.digest()));
  add(mark::address, wish.placement.address);
  add(mark::network, wish.placement.network_id);
  add(mark::ports, write_json(port_outputs(wish.service, wish.placement).value()));
}

/// The former address, unless somebody else has it.
Status choose_address(const Site& site, const Act& act, Wish& wish) {
  const NetworkOutputs network = read<NetworkOutputs>(act.need("network")->outputs);
  const auto subnet = parse_subnet(network.subnet);
  if (!subnet)
    return world_error("the record of the network has no address range");
  wish.placement.address =
      TRY(site.allocation.address(wish.placement.network_id, *subnet, network.gateway.str(),
                                  owner_of(act.key), outputs_before(act).ip_address));
  return {};
}

Result<Wish> make_wish(const Site& site, const Act& act, const std::stop_token& stop) {
  const Record* const record = act.need("network");
  if (record == nullptr)
    return world_error(cat("the service `", act.key.name, "` does not depend on a network"));
  const NetworkOutputs network = read<NetworkOutputs>(record->outputs);
  Wish wish;
  wish.service = read<Service>(reveal(act.attributes));
  // Others may have built another image of this name since.
  if (act.need("build") != nullptr)
    wish.service.image = wish.service.image_id;
  wish.placement.network = network.name.view();
  wish.placement.network_id = network.id.view();
  wish.placement.alias = service_name(act.key);
  wish.uuid = outputs_before(act).uuid.view();
  if (wish.uuid.empty())
    wish.uuid = uuid_of(act.key, wish.placement.network_id);
  wish.name = container_name(service_name(act.key), wish.uuid);
  TRY(learn_addresses(site, act, wish.placement.network_id, stop));
  TRY(choose_address(site, act, wish));
  TRY(choose_ports(site, act, wish));
  mark_container(site, act, wish);
  return wish;
}

/// The containers of a change: the one that is being made, and the one that it replaces.
struct Change {
  std::string now, old;
  bool old_ran = false;
  bool adopted = false;  ///< it runs already, from an act that was interrupted
  bool direct = true;    ///< its address can be reached from here
  bool is_anew = true;   ///< this act made it
  Duration looked{0};    ///< the time after which it was last seen alive
};

Value save(const Change& change, const Outputs& outputs, Instant since) {
  return Value::dict({{"container", change.now},
                      {"old", change.old},
                      {"old_ran", change.old_ran},
                      {"direct", change.direct},
                      {"is_anew", change.is_anew},
                      {"outputs", write(read<ServiceOutputs>(outputs))},
                      {"looked", change.looked.count()},
                      {"since", since.time_since_epoch().count()}});
}

Change load_change(const Value& so_far) {
  return {.now = std::string(so_far.text_at("container")),
          .old = std::string(so_far.text_at("old")),
          .old_ran = so_far.bool_at("old_ran"),
          .direct = so_far.bool_at("direct"),
          .is_anew = so_far.bool_at("is_anew"),
          .looked = Duration(so_far.integer_at("looked"))};
}

/// Undoes a change that failed, and says so in the error. A stop is no failure: then everything is
/// left for the next run, which finds it.
Error undo(const Site& site, const Key& key, const Change& change, const std::string& name,
           Error error) {
  if (is_cancelled(error))
    return error;
  const std::stop_token none;
  if (change.old.empty()) {
    // The container stays for whoever wants to look at it; the next attempt replaces it.
    return std::move(error).context(cat("starting service `", key.name, "`"));
  }
  if (!site.options.rollback)
    return std::move(error).context(cat("replacing service `", key.name, "`"));
  Status undone = change.now.empty() ? Status() : remove_container(site.engine, change.now, none);
  if (undone) {
    const auto renamed = rename_container(site.engine, change.old, name, none);
    undone = renamed ? Status() : Status(renamed.error());
  }
  if (undone && change.old_ran)
    undone = start_container(site.engine, change.old, none);
  // If the message ends with lines of the container, it goes on below them.
  error.message += error.message.find('\n') != std::string::npos ? "\n" : "; ";
  if (!undone)
    error.message +=
        cat("the container before it cannot be brought back: ", to_string(undone.error()));
  else
    error.message +=
        change.old_ran ? "the previous container runs again" : "the previous container is kept";
  return std::move(error).context(cat("replacing service `", key.name, "`"));
}

/// Looks at everything with the marks of this service, after its name was found to be taken. A
/// container that is as wanted is adopted, one that this very act left half made is removed, and
/// any other is the old one.
Status settle_leftovers(const Site& site, const Act& act, const Wish& wish, Change& change,
                        const std::stop_token& stop) {
  const std::string digest = to_string(act.attributes.digest());
  const std::string number = std::to_string(act.incarnation);
  for (const ContainerState& found : TRY(own_containers(site, key_filters(act.key), stop))) {
    if (found.id == change.old)
      continue;
    const bool as_wanted = label(found.labels, mark::digest) == digest;
    const bool of_this_act = label(found.labels, mark::incarnation) == number;
    if (found.name == old_name(wish.name)) {
      change.old = found.id;
      change.old_ran = found.status != "created";  // if it died, it was not us who stopped it
    } else if (found.name != wish.name) {
      continue;
    } else if (as_wanted && found.runs() && (of_this_act || act.known == nullptr)) {
      change.now = found.id;
      change.adopted = true;
    } else if (of_this_act || !found.runs()) {
      TRY(remove_container(site.engine, found.id, stop));
    } else {
      change.old = found.id;
      change.old_ran = true;
      TRY(rename_container(site.engine, found.id, old_name(wish.name), stop));
    }
  }
  return {};
}

Status create(const Site& site, const Act& act, const Wish& wish, Change& change,
              const std::stop_token& stop) {
  const Value body = TRY(service_body(wish.service, wish.placement));
  CreatedContainer created = TRY(create_container(site.engine, wish.name, body, stop));
  if (created.name_taken) {
    TRY(settle_leftovers(site, act, wish, change, stop));
    if (change.adopted)
      return {};
    created = TRY(create_container(site.engine, wish.name, body, stop));
    if (created.name_taken)
      return world_error(
          cat("the name `", wish.name, "` is taken by a container that this home did not create"));
  }
  change.now = created.id;
  return put_files(site, change.now, mounts_in(wish.service.files, wish.service.moved_files), stop);
}

/// Replaces ports that somebody else has taken meanwhile. Returns whether there were any.
Result<bool> choose_other_ports(const Site& site, const Act& act, Wish& wish) {
  bool changed = false;
  for (auto& [id, number] : wish.placement.public_ports) {
    const bool is_here = site.engine.address().is_local();
    if (is_pinned(wish.service, id) || (is_here && is_port_free(number)))
      continue;
    site.allocation.hold_port("somebody", number);
    number = TRY(site.allocation.port(port_owner(act.key, id), 0));
    changed = true;
  }
  return changed;
}

/// Returns whether something else was chosen for what an engine refused.
Result<bool> give_way(const Site& site, const Act& act, Wish& wish, const Error& error) {
  switch (what_is_taken(error)) {
    case EngineConflict::address:
      site.allocation.give_up_address(wish.placement.network_id, owner_of(act.key));
      TRY(choose_address(site, act, wish));
      return true;
    case EngineConflict::port:
      return choose_other_ports(site, act, wish);
    default:
      return false;
  }
}

/// Creates and starts the container. If somebody has taken our address or one of our ports in the
/// meantime, others are chosen.
Status create_and_start(const Site& site, const Act& act, Wish& wish, Change& change,
                        const std::stop_token& stop) {
  for (int i = 1;; ++i) {
    TRY(create(site, act, wish, change, stop));
    if (change.adopted)
      return {};
    if (!change.old.empty() && i == 1)
      change.old_ran =
          TRY(stop_container(site.engine, change.old, site.options.stop_grace, stop)) ||
          change.old_ran;
    const Status started = start_container(site.engine, change.now, stop);
    if (started || i == start_tries || !TRY(give_way(site, act, wish, started.error())))
      return started;
    TRY(remove_container(site.engine, change.now, stop));
    change.now.clear();
    mark_container(site, act, wish);
  }
}

Value make_outputs(const Act& act, const Wish& wish, const std::string& container) {
  ServiceOutputs outputs;
  outputs.uuid = wish.uuid;
  outputs.ip_address = wish.placement.address;
  outputs.hostname = service_name(act.key);
  outputs.ports = port_outputs(wish.service, wish.placement);
  outputs.container = container;
  outputs.started = outputs_before(act).started + 1;
  return write(outputs);
}

/// Why a container was killed, as far as anybody knows: not every engine says that it was out of
/// memory.
std::string_view kill_reason(const ContainerState& state, int64_t memory_limit) {
  constexpr int64_t killed = 137;
  if (state.out_of_memory)
    return " (out of memory)";
  return state.exit_code == killed && memory_limit > 0 ? " (probably out of memory)" : "";
}

/// The error of a container that ended while its port was awaited; none while it runs.
Result<std::optional<Error>> look_for_end(const Site& site, const Key& key, const Service& service,
                                          const std::string& container, const std::string& awaited,
                                          const std::stop_token& stop) {
  const auto state = TRY(inspect_container(site.engine, container, stop));
  if (!state)
    return std::optional(world_error(cat("the container of `", key.name, "` is gone")));
  if (state->status != "exited" && state->status != "dead")
    return std::optional<Error>();
  const std::string lines = last_log_lines(site.engine, container, shown_log_lines, stop);
  return std::optional(world_error(
      cat("the container of `", key.name, "` ended with exit code ", state->exit_code.value_or(-1),
          kill_reason(*state, service.memory_max.get()), " before ", awaited,
          lines.empty() ? "; it printed nothing" : "; its last lines are:\n", lines)));
}

/// Probes the ports that are awaited. None: all answer. Otherwise the text says what to show
/// meanwhile.
Result<std::optional<std::string>> probe_ports(const Site& site, const Key& key,
                                               const Service& service,
                                               const ServiceOutputs& outputs, Change& change,
                                               Duration waited, const std::stop_token& stop) {
  const std::string& container = change.now;
  const std::string address = outputs.ip_address.str();
  for (const ServicePort& port : ports_of(service)) {
    if (!port.wait)
      continue;
    const Socket socket{port.transport == "UDP" ? Socket::Sort::udp : Socket::Sort::tcp,
                        port.number};
    const bool open = !change.direct ? TRY(listens_inside(site.engine, container, socket, stop))
                      : socket.sort == Socket::Sort::udp
                          ? TRY(serves_udp(site.engine, container, address, port.number, stop))
                          : accepts_connections(address, port.number, connect_limit, stop);
    if (open)
      continue;
    const std::string name =
        cat("port `", port.id, "` (", port.number, "/", port.transport, ") of `", key.name, "`");
    if (waited - change.looked >= std::max(first_look, waited / 4)) {
      if (auto ended = TRY(look_for_end(site, key, service, container, name + " was open", stop)))
        return std::move(*ended);
      change.looked = waited;
    }
    const Duration limit = TRY(parse_duration(*port.wait));
    if (waited < limit)
      return std::optional(name + " is not open yet");
    const std::string lines = last_log_lines(site.engine, container, shown_log_lines, stop);
    return world_error(cat(name, " did not open within ", to_string(limit),
                           lines.empty() ? "; its container printed nothing"
                                         : "; the last lines of its container are:\n",
                           lines));
  }
  return std::optional<std::string>();
}

/// The outputs, with what we saw of its end: who has ports is taken for a server, unless it has
/// ended with code 0 by itself.
Result<Outputs> with_end(const Site& site, const Service& service, const std::string& container,
                         const Outputs& outputs, const std::stop_token& stop) {
  const bool any_awaited = std::ranges::any_of(ports_of(service), [](const ServicePort& port) {
    return port.transport == "TCP" && port.wait.has_value();
  });
  if (service.ports.empty() || any_awaited)
    return outputs;
  const auto state = TRY(inspect_container(site.engine, container, stop));
  const bool has_ended = state && state->status == "exited" && state->exit_code == 0;
  if (!has_ended)
    return outputs;
  ServiceOutputs ended = read<ServiceOutputs>(outputs);
  ended.has_ended = true;
  return Outputs(write(ended));
}

/// Awaits the ports, again and again, and finishes the change.
Result<Outcome> await_ports(const Site& site, const Act& act, const Service& service, Change change,
                            const std::string& name, const Outputs& outputs, Instant since,
                            const std::stop_token& stop) {
  const Duration waited = instant_from_clock() - since;
  auto probed =
      probe_ports(site, act.key, service, read<ServiceOutputs>(outputs), change, waited, stop);
  if (!probed)
    return undo(site, act.key, change, name, std::move(probed).error());
  if (*probed)
    return Outcome(Pending{.what = **probed,
                           .retry_after = probe_pause(waited),
                           .so_far = save(change, outputs, since)});
  if (!change.old.empty() && change.old != change.now)
    TRY(remove_container(site.engine, change.old, stop));
  return Outcome(Done{.outputs = TRY(with_end(site, service, change.now, outputs, stop)),
                      .remote_id = change.now,
                      .is_anew = change.is_anew});
}

Result<Outcome> continue_waiting(const Site& site, const Act& act, const Service& service,
                                 std::stop_token stop) {
  const Value& so_far = act.so_far;
  const Outputs outputs = so_far.at("outputs");
  const ServiceOutputs made = read<ServiceOutputs>(outputs);
  const std::string name = container_name(made.hostname, made.uuid);
  const Instant since = Instant(Duration(so_far.integer_at("since")));
  return await_ports(site, act, service, load_change(so_far), name, outputs, since, stop);
}

/// Whether a container of an earlier act is there, as far as anybody looked.
bool had_container(const Act& act) {
  if (act.known == nullptr || act.known->remote_id.empty())
    return false;
  return !act.seen || act.seen->state.has_value();
}

/// Starts a container that is there. None when nobody can: it is gone, was cut off from its
/// network, or the engine refuses, as it does when what it was made with is not there any more.
Result<std::optional<Outcome>> start_again(const Site& site, const Act& act, const Service& service,
                                           const Outputs& before, const std::string& container,
                                           std::stop_token stop) {
  const auto state = TRY(inspect_container(site.engine, container, stop));
  if (!state ||
      is_cut_off(*state, network_name({act.key.environment, "network", environment_network})))
    return std::optional<Outcome>();
  if (Status started = start_container(site.engine, container, stop); !started) {
    if (is_cancelled(started.error()) || started.error().unknown_outcome)
      return std::move(started).error();
    return std::optional<Outcome>();
  }
  ServiceOutputs outputs = read<ServiceOutputs>(before);
  ++outputs.started;
  const std::string address = outputs.ip_address.str();
  const Change change{
      .now = container, .old = {}, .direct = is_reachable(site.engine, address), .is_anew = false};
  return std::optional(
      TRY(await_ports(site, act, service, change, {}, write(outputs), instant_from_clock(), stop)));
}

/// A name stands for one service. A service that only passes by under the name removes the one that
/// has it; that one is recreated afterwards.
Status clear_name(const Site& site, const Key& key, const std::stop_token& stop) {
  if (service_name(key) == key.name.view())
    return {};
  for (const ContainerState& found :
       TRY(own_containers(site, {environment_filter(key.environment)}, stop))) {
    const std::optional<Key> other = key_in(found.labels);
    if (!other || other->kind != key.kind || other->name == key.name ||
        service_name(*other) != service_name(key))
      continue;
    TRY(stop_container(site.engine, found.id, site.options.stop_grace, stop));
    TRY(remove_container(site.engine, found.id, stop));
  }
  return {};
}

/// Stops the services that hold a port which this one takes. Their own acts come later. Returns
/// those that ran.
Result<std::vector<std::string>> stop_holders(const Site& site, const Act& act,
                                              const std::stop_token& stop) {
  std::vector<std::string> ran;
  for (const RecordPointer& holder : act.releases)
    if (!holder->remote_id.empty() &&
        TRY(stop_container(site.engine, holder->remote_id, site.options.stop_grace, stop)))
      ran.push_back(holder->remote_id);
  return ran;
}

/// Adds which of our containers has a pinned port.
Error name_holder(const Site& site, const Wish& wish, Error error, const std::stop_token& stop) {
  if (what_is_taken(error) != EngineConflict::port)
    return error;
  const auto containers = own_containers(site, {}, stop);
  for (const ContainerState& state : containers.value_or(std::vector<ContainerState>())) {
    const auto key = key_in(state.labels);
    const auto ports = read_json(label(state.labels, mark::ports));
    if (!key || !ports || !ports->is_dict() || !state.runs() || state.name == wish.name)
      continue;
    for (const Entry& held : ports->entries())
      for (const Entry& pinned : wish.service.public_ports.entries())
        if (const int64_t number = read<Port>(pinned.value).number.get();
            read<PortOutputs>(held.value).public_port.value_or(0) == number) {
          error.message += cat("; port ", number, " is held by the service `", service_name(*key),
                               "` of environment `", key->environment, "`");
          return error;
        }
  }
  return error;
}

}  // namespace

Result<Outcome> make_service(const Site& site, const Act& act, std::stop_token stop) {
  if (!act.so_far.is_null())
    return continue_waiting(site, act, read<Service>(act.attributes), stop);
  TRY(clear_name(site, act.key, stop));
  Wish wish = TRY(make_wish(site, act, stop));
  Change change;
  if (had_container(act) &&
      TRY(rename_container(site.engine, act.known->remote_id, old_name(wish.name), stop))) {
    change.old = act.known->remote_id;
    // An interrupted act may have stopped it already.
    change.old_ran = act.known->attempt && !act.known->attempt->failed;
  }
  const std::vector<std::string> released = TRY(stop_holders(site, act, stop));
  const Status made = create_and_start(site, act, wish, change, stop);
  if (!made) {
    Error error = undo(site, act.key, change, wish.name, made.error());
    if (!is_cancelled(error))
      for (const std::string& id : released)
        static_cast<void>(start_container(site.engine, id, {}));  // as it was; the error counts
    return name_holder(site, wish, std::move(error), stop);
  }
  change.direct = is_reachable(site.engine, wish.placement.address);
  return await_ports(site, act, wish.service, change, wish.name,
                     make_outputs(act, wish, change.now), instant_from_clock(), stop);
}

namespace {

Result<Outcome> wake_service(const Site& site, const Act& act, const std::stop_token& stop) {
  if (!act.so_far.is_null())
    return continue_waiting(site, act, read<Service>(act.attributes), stop);
  // What a stop that was interrupted may still end is ended first.
  const bool is_ending = act.known != nullptr && act.known->attempt &&
                         !act.known->attempt->failed && act.known->attempt->verb == Verb::stop;
  if (is_ending && !act.known->remote_id.empty())
    TRY(stop_container(site.engine, act.known->remote_id, site.options.stop_grace, stop));
  if (act.known != nullptr && !act.known->remote_id.empty())
    if (auto started = TRY(start_again(site, act, read<Service>(act.attributes), act.known->outputs,
                                       act.known->remote_id, stop)))
      return std::move(*started);
  return make_service(site, act, stop);
}

}  // namespace

Result<Outcome> start_service(const Site& site, const Act& act, std::stop_token stop) {
  Outcome outcome = TRY(wake_service(site, act, stop));
  // A container that was paused goes on with the same life.
  if (auto* done = std::get_if<Done>(&outcome))
    done->life = life_of(site.engine, done->remote_id, stop).value_or(0);
  return outcome;
}

Result<Outcome> adopt_service(const Site& site, const Act& act, std::stop_token stop) {
  const ServiceSeen seen =
      act.seen && act.seen->state ? read<ServiceSeen>(*act.seen->state) : ServiceSeen();
  if (act.so_far.is_null() && seen.status == "running" && !seen.is_cut_off &&
      seen.digest == to_string(act.attributes.digest()))
    return Outcome(
        Done{.outputs = stored_outputs(act), .remote_id = act.known->remote_id, .changed = false});
  return make_service(site, act, stop);
}

Result<Outcome> stop_service(const Site& site, const Act& act, std::stop_token stop) {
  const std::string id = act.known == nullptr ? "" : act.known->remote_id;
  bool ran = false;
  // After an interrupted act, there may be another container than the recorded one.
  if (act.known == nullptr || act.known->attempt || id.empty()) {
    for (const ContainerState& found : TRY(own_containers(site, key_filters(act.key), stop)))
      ran |= TRY(stop_container(site.engine, found.id, site.options.stop_grace, stop));
  } else {
    ran = TRY(stop_container(site.engine, id, site.options.stop_grace, stop));
  }
  return Outcome(Done{.outputs = stored_outputs(act), .remote_id = id, .changed = ran});
}

Result<Outcome> remove_service(const Site& site, const Act& act, std::stop_token stop) {
  const bool certain = act.known != nullptr && !act.known->remote_id.empty() && !act.known->attempt;
  if (certain) {
    TRY(remove_container(site.engine, act.known->remote_id, stop));
  } else {
    for (const ContainerState& found : TRY(own_containers(site, key_filters(act.key), stop)))
      TRY(remove_container(site.engine, found.id, stop));
  }
  const Dict ports = outputs_before(act).ports;
  for (const Entry& entry : ports.entries())
    site.allocation.free_port(port_owner(act.key, entry.key.str()));
  if (const Record* const network = act.need("network"))
    site.allocation.free_address(read<NetworkOutputs>(network->outputs).id.str(),
                                 owner_of(act.key));
  return Outcome(Done{});
}

Result<Outcome> transition_service(const Site& site, const Act& act, std::stop_token stop) {
  const Record& host = *TRY(host_of(act));
  const Outputs outputs = write(TransitionOutputs{read<ServiceOutputs>(host.outputs).uuid});
  const auto done = [&](bool changed) {
    return Outcome(Done{.outputs = outputs, .remote_id = host.remote_id, .changed = changed});
  };
  if (act.key.kind == "stop")
    return done(TRY(stop_container(site.engine, host.remote_id, site.options.stop_grace, stop)));
  if (act.key.kind == "remove") {
    TRY(remove_container(site.engine, host.remote_id, stop));
    return done(true);
  }
  const Service service = read<Service>(host.applied->attributes);
  Act within = act;
  within.key = host.applied->key;
  if (!act.so_far.is_null()) {
    const Outcome outcome = TRY(continue_waiting(site, within, service, stop));
    return std::holds_alternative<Done>(outcome) ? done(true) : outcome;
  }
  const auto started = TRY(start_again(site, within, service, host.outputs, host.remote_id, stop));
  if (!started)
    return world_error(cat("the container of `", host.applied->key.name, "` is gone"));
  return std::holds_alternative<Done>(*started) ? done(true) : *started;
}

}  // namespace fettle
