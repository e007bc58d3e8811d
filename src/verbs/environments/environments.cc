#include "verbs/environments/environments.h"

#include "base/text.h"
#include "controller/manifests.h"
#include "core/environment_name.h"
#include "kinds/artifact.h"
#include "kinds/engine_needs.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "kinds/state.h"
#include "model/apply/intent.h"
#include "plan/presence.h"
#include "states/intent.h"
#include "store/reserve.h"
#include "value/empty.h"
#include "verbs/environments/files.h"
#include "verbs/environments/services.h"
#include "workplace/engines.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

std::vector<RecordPointer> sorted_services(const Known& known, bool (*wanted)(const Record&)) {
  std::vector<RecordPointer> services;
  for (const auto& [key, record] : known)
    if (key.kind == "service" && wanted(*record))
      services.push_back(record);
  std::sort(services.begin(), services.end(), [](const auto& a, const auto& b) {
    return resource_of_then(*a)->key.name.view() < resource_of_then(*b)->key.name.view();
  });
  return services;
}

std::vector<RecordPointer> services_of(const Known& known) {
  return sorted_services(known, [](const Record& record) { return record.applied.has_value(); });
}

/// The services that were not removed, and those that were never added because the attempt failed.
std::vector<RecordPointer> services_to_show(const Known& known) {
  return sorted_services(known, [](const Record& record) {
    return record.applied.has_value() || (record.attempt && record.attempt->failed);
  });
}

/// The exit code of a service that ended with an error by itself.
std::optional<int64_t> bad_end(const Record& record, const ServiceSeen& seen, Presence expected) {
  const int64_t code = seen.exit_code.value_or(0);
  const bool ended = seen.status == "exited" && code != 0;
  return ended && record.by_hand != ByHand::stopped && runs(expected) ? std::optional(code)
                                                                      : std::nullopt;
}

/// How a service is shown. None: there is nothing to show.
std::optional<ServiceView> view_of(const Record& record, const Observation& seen, bool is_removed,
                                   Presence expected) {
  if (!seen.state && (is_removed || !record.applied))
    return std::nullopt;
  const Resource& then = *resource_of_then(record);
  ServiceView view;
  view.name = service_name(then.key);
  view.uuid = read_one<&ServiceOutputs::uuid>(record.outputs).view();
  view.attributes = then.attributes;
  view.outputs = record.outputs;
  view.container = record.remote_id;
  view.status = "absent";
  if (!seen.state)
    return view;
  const ServiceSeen state = read<ServiceSeen>(*seen.state);
  view.status = state.status == "running" ? "running" : "stopped";
  view.ended_with = bad_end(record, state, expected);
  if (state.container != record.remote_id) {
    view.container = state.container.view();
    if (record.attempt && record.attempt->failed) {
      view.status = "failed";
      view.error = record.attempt->error;
    }
  }
  return view;
}

/// An intent in which every set that wants something now wants nothing more.
std::shared_ptr<const Intent> empty_intent(const Name& environment, const Known& known) {
  auto intent = std::make_shared<Intent>();
  intent->environment = environment;
  for (const auto& [key, record] : known)
    for (const auto& [set, wish] : record->wanted_by)
      intent->sets[set] = Leftover::remove;
  return intent;
}

}  // namespace

Result<AddedEnvironment> add_environment(const Workplace& place, const std::string& name,
                                         bool production, bool wait) {
  TRY(check_environment_name(name));
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, name, wait));
  if (TRY(place.store->environment(name)))
    return user_error(cat("the environment `", name, "` already exists"));
  AddedEnvironment added;
  added.environment =
      TRY(ensure_environment(place, *edit, Value::dict({{"production", production}})));
  auto intent = std::make_shared<Intent>();
  intent->environment = name;
  intent->sets[by_hand] = Leftover::keep;
  Resource network;
  network.key = {name, network_kind().name(), environment_network};
  network.attributes = Value::dict({});
  network.driver = own_engine;
  network.origin = "fettle enclave add";
  intent->resources[by_hand].push_back(std::move(network));
  Result<EditResult> edited = edit_by(place, *edit, intent);
  // Without its network, nothing is left of the environment, unless nobody knows how far the engine
  // came.
  if ((!edited || !edited->summary.good()) && place.interrupt->asked() == 0)
    TRY(edit->remove_environment());
  added.summary = TRY(std::move(edited)).summary;
  return added;
}

Result<std::vector<Environment>> list_environments(const Workplace& place) {
  std::vector<Environment> known = TRY(place.store->environments());
  // An empty store may be a new one on a machine where fettle has worked before. What is found may
  // also belong to somebody else, so it is only shown.
  if (!known.empty())
    return known;
  std::set<Name> names;
  for (const Name& engine : TRY(engines_of(place)))
    if (Driver* const driver = place.driver(engine))
      if (const auto found = driver->list({}, place.interrupt->acts_token()))
        for (const Found& one : *found)
          names.insert(one.key.environment);
  for (const Name& name : names) {
    // Of what is not for whoever asks, the store tells nothing. That it cannot tell is an error.
    const Result<std::optional<Holder>> holder = place.store->holder(name);
    if (holder)
      known.push_back({name, {}, {}, {}});
    else if (holder.error().blame != Blame::user)
      return holder.error();
  }
  return known;
}

namespace {

/// Asks the engine, unless all services were looked at.
Result<std::vector<Observation>> look_at_services(const Workplace& place,
                                                  const std::vector<Subject>& subjects,
                                                  const Seen& seen) {
  std::vector<Observation> found;
  for (const Subject& subject : subjects)
    if (const auto at = seen.find(subject.key); at != seen.end())
      found.push_back(at->second);
  if (found.size() == subjects.size())
    return found;
  found.assign(subjects.size(), {});
  std::map<Name, std::vector<size_t>> by_driver;
  for (size_t i = 0; i < subjects.size(); ++i)
    by_driver[resource_of_then(*subjects[i].known)->driver].push_back(i);
  for (const auto& [name, indices] : by_driver) {
    Driver* const driver = place.driver(name);
    if (driver == nullptr)
      continue;
    std::vector<Subject> own;
    for (const size_t i : indices)
      own.push_back(subjects[i]);
    const auto seen_there = TRY(driver->observe(own, place.interrupt->acts_token()));
    for (size_t i = 0; i < indices.size(); ++i)
      found[indices[i]] = seen_there[i];
  }
  return found;
}

}  // namespace

namespace {

/// Whether workloads have pods in it that were not removed.
bool has_pods(const Known& known) {
  return std::ranges::any_of(known, [](const auto& each) {
    const Record& record = *each.second;
    return each.first.kind == "pod" && record.applied && record.by_hand != ByHand::removed;
  });
}

/// Whether anything in the world, services apart, is described by a model or by files of states.
bool has_deployed(const Known& known, const Kinds& kinds) {
  static const std::set<Name> of_packages{"network",  "image",     "build",
                                          "artifact", "directory", "service"};
  return std::ranges::any_of(known, [&](const auto& each) {
    const auto& [key, record] = each;
    const Kind* const kind = kinds.find(key.kind);
    return kind != nullptr && kind->sort() != Sort::action && !of_packages.contains(key.kind) &&
           record->applied && record->by_hand != ByHand::removed &&
           !is_purged(record->applied->attributes);
  });
}

}  // namespace

std::vector<ArtifactView> artifacts_of(const Known& known) {
  std::vector<ArtifactView> artifacts;
  for (const auto& [name, record] : files_artifacts(known))
    artifacts.push_back({name, read_one<&ArtifactOutputs::uuid>(record->outputs).str(),
                         read_one<&ArtifactOutputs::digest>(record->outputs).str()});
  return artifacts;
}

Result<EnvironmentView> inspect_environment(const Workplace& place, const std::string& name,
                                            const Seen& seen_before, const Known* known_before) {
  EnvironmentView view;
  view.environment = TRY(find_environment(place, name));
  const Known known =
      known_before != nullptr ? *known_before : TRY(place.store->known(view.environment.name));
  const std::vector<RecordPointer> services = services_to_show(known);
  std::vector<Subject> subjects;
  for (const RecordPointer& record : services)
    subjects.push_back({resource_of_then(*record)->key, nullptr, record});
  const std::vector<Observation> seen = TRY(look_at_services(place, subjects, seen_before));
  const std::set<Key> removed = removed_services(known, *place.kinds);
  const auto left = presences_left(known, *place.kinds);
  bool any_running = false;
  for (size_t i = 0; i < services.size(); ++i) {
    const auto expected = left.find(subjects[i].key);
    std::optional<ServiceView> service =
        view_of(*services[i], seen[i], removed.contains(subjects[i].key),
                expected == left.end() ? Presence::running : expected->second);
    if (!service)
      continue;
    any_running |= seen[i].state && read_one<&ServiceSeen::status>(*seen[i].state) == "running";
    view.services.push_back(*std::move(service));
  }
  // A service that was removed is not shown while another one of its name passes by.
  std::set<std::string> there;
  for (const ServiceView& service : view.services)
    if (service.status != "absent")
      there.insert(service.name);
  std::erase_if(view.services, [&](const ServiceView& service) {
    return service.status == "absent" && there.contains(service.name);
  });
  view.artifacts = artifacts_of(known);
  any_running |= has_pods(known);
  view.status = any_running                         ? "running"
                : !view.services.empty()            ? "stopped"
                : has_deployed(known, *place.kinds) ? "deployed"
                                                    : "empty";
  return view;
}

Result<ServiceView> inspect_service(const Workplace& place, const Environment& environment,
                                    const std::string& name) {
  const EnvironmentView view = TRY(inspect_environment(place, environment.name.str()));
  for (const bool by_uuid : {false, true})
    for (const ServiceView& service : view.services)
      if (by_uuid ? begins_uuid(service.uuid, name) : service.name == name)
        return service;
  TRY(find_service(place, environment.name, name));
  return world_error(cat("the service `", name, "` does not exist while another one has its name"));
}

namespace {

Status check_has_no_pods(const Known& known, const Name& environment) {
  if (has_pods(known))
    return user_error(cat("`", environment,
                          "` has workloads, and pods are not stopped or started by hand: `fettle "
                          "scale KIND/NAME --replicas COUNT` says how many there are, 0 for none"));
  return {};
}

Result<Summary> transit_environment(const Workplace& place, const Hold& hold, Verb verb) {
  const Known known = TRY(place.store->known(hold.environment.name));
  TRY(check_has_no_pods(known, hold.environment.name));
  return transit_services(place, *hold.edit, services_of(known), verb);
}

}  // namespace

Status check_transit(const Workplace& place, const Name& environment) {
  return check_has_no_pods(TRY(place.store->known(environment)), environment);
}

Result<Summary> stop_environment(const Workplace& place, const std::string& name, bool wait) {
  return transit_environment(place, TRY(hold_environment(place, name, wait)), Verb::stop);
}

Result<Summary> start_environment(const Workplace& place, const std::string& name, bool wait) {
  return transit_environment(place, TRY(hold_environment(place, name, wait)), Verb::start);
}

Result<Summary> restart_environment(const Workplace& place, const std::string& name, bool wait) {
  const Hold hold = TRY(hold_environment(place, name, wait));
  Summary stopped = TRY(transit_environment(place, hold, Verb::stop));
  if (!stopped.good())
    return stopped;
  return transit_environment(place, hold, Verb::start);
}

namespace {

/// Things of the machine that a model or files of states want outlive their environment, and so do
/// their leftovers.
bool stays_on_machine(const Key& key, const Record& record) {
  const Resource* then = resource_of_then(record);
  const bool is_of_states = record.wanted_by.contains(Name(states::states_set));
  return (model::is_of_model(record) || is_of_states) && key.kind != "service" &&
         key.kind != "network" && key.kind != "image" &&
         (then == nullptr || then->leftover != Leftover::remove);
}

/// A wait, or a look of states, makes nothing that stays.
bool has_made_nothing(const Key& key, const Record& record) {
  return key.kind == "state" && is_empty(read_one<&StateOutputs::new_state>(record.outputs));
}

/// Whether people can see something of it on the machine.
bool is_seen_on_machine(const Key& key, const Record& record, const Kinds& kinds) {
  const Kind* const kind = kinds.find(key.kind);
  return stays_on_machine(key, record) && kind != nullptr && kind->sort() != Sort::action &&
         key.kind != command_kind().name() && record.applied &&
         !is_purged(record.applied->attributes) && !has_made_nothing(key, record);
}

/// The engines on which something lives that goes with the environment.
std::set<Name> needed_engines(const Known& known, bool prune) {
  std::set<Name> engines;
  for (const auto& [key, record] : known)
    if (const Resource* const then = resource_of_then(*record);
        then != nullptr && is_engine(then->driver) && (prune || !stays_on_machine(key, *record)))
      engines.insert(then->driver);
  return engines;
}

/// All that goes with an environment: what is recorded and, where an engine runs, what the engine
/// has.
Result<Known> all_of(const Workplace& place, const Name& environment, bool prune) {
  Known known = TRY(place.store->known(environment));
  if (needed_engines(known, prune).empty()) {
    const Result<Known> found = with_found(place, environment, known);
    if (found)
      known = *found;
  } else {
    known = TRY(with_found(place, environment, std::move(known)));
  }
  // Records that nobody wants any more belong to the environment all the same.
  Known going;
  for (const auto& [key, record] : known) {
    if (!prune && stays_on_machine(key, *record))
      continue;
    auto changed = std::make_shared<Record>(*record);
    if (changed->wanted_by.empty())
      changed->wanted_by[Name("nobody")] = {};
    going.emplace(key, std::move(changed));
  }
  return going;
}

}  // namespace

Result<RemovalResult> remove_environment(const Workplace& place, const std::string& name,
                                         const Removal& removal) {
  const ReserveUse reserve(place.home);
  const Hold hold = TRY(hold_environment(place, name, removal.wait));
  Edit& edit = *hold.edit;
  const Known before = TRY(place.store->known(edit.environment()));
  for (const Name& engine : needed_engines(before, removal.prune))
    if (Driver* const driver = place.driver(engine))
      TRY(driver->ready({}, place.interrupt->acts_token()));
  RunRequest run_request;
  run_request.known = TRY(all_of(place, edit.environment(), removal.prune));
  // A thing that states made stays: only their files say how it is removed.
  std::erase_if(run_request.known, [](const auto& one) { return one.first.kind == "state"; });
  run_request.intent = empty_intent(edit.environment(), run_request.known);
  run_request.options.parallelism = 8;
  Sharers shared = TRY(shared_leftovers(place, *run_request.intent, run_request.known));
  leave_to_others(shared, run_request.options.plan);
  run_request.begins = [&] { return edit.begin_removal(); };
  RunResult run_result = TRY(carry_out(place, edit, std::move(run_request)));
  RemovalResult removed{TRY(std::move(run_result.summary)), {}, {}, {}};
  // Images stay with the engine.
  for (const auto& [key, record] : before)
    if (const Step* const step = run_result.run.step(key);
        step != nullptr && key.kind != "image" && key.kind != "build" &&
        step->verb == Verb::remove && run_result.run.standing(key) == Standing::changed)
      ++removed.taken[key.kind];
  for (const auto& [key, record] : before)
    if (is_seen_on_machine(key, *record, *place.kinds) &&
        (!removal.prune || record->changes == 0 || key.kind == "state" || shared.contains(key)))
      removed.staying.push_back({key, shown_thing(key, *record)});
  removed.shared = std::move(shared);
  std::ranges::sort(removed.staying, {}, &KeptThing::key);
  if (removed.summary.good())
    TRY(edit.remove_environment());
  return removed;
}

namespace {

std::string counted(size_t count, std::string_view what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

/// What users stored in a fleet, and data that outlives it, in words. Empty: nothing.
Result<std::string> kept_in_fleet(const Workplace& place, const Name& fleet) {
  size_t objects = 0, claims = 0;
  for (const workloads::Object& object : TRY(stored_objects(place, fleet)))
    objects += workloads::is_mark(object.owner()) ? 0 : 1;
  for (const auto& [key, record] : TRY(place.store->known(fleet)))
    claims += key.kind == "claim" && record->applied ? 1 : 0;
  std::vector<std::string> parts;
  if (objects > 0)
    parts.push_back(cat(counted(objects, "manifest"), " of workloads"));
  if (claims > 0)
    parts.push_back(cat(counted(claims, "claim"), " with data"));
  return join(parts, " and ");
}

/// What a model, files of states or manifests describe in an environment, in words. Empty: nothing.
Result<std::string> described_in(const Workplace& place, const Environment& environment) {
  const auto heads = TRY(place.store->versions().heads(environment.name));
  if (!heads.empty() && is_of_fleet(heads.back().detail))
    return kept_in_fleet(place, environment.name);
  if (!heads.empty())
    return cat("a model with ", counted(heads.size(), "version"));
  return std::string(environment.detail.bool_at("states") ? "files of states" : "");
}

/// Whether `clean` removes an environment that nobody named, and that holds only what packages and
/// commands made.
Result<bool> is_to_go(const Workplace& place, const Environment& environment, bool all) {
  if (all || environment.is_removing)
    return true;
  // Kurtosis: an enclave that was just made counts as running, although it has no service yet.
  return TRY(inspect_environment(place, environment.name.str())).status == "stopped";
}

}  // namespace

Result<CleanResult> clean(const Workplace& place, const CleanOptions& cleaning,
                          const std::function<void(const std::string&)>& removed) {
  const ReserveUse reserve(place.home);
  CleanResult cleaned;
  for (const Environment& environment : TRY(place.store->environments())) {
    const std::string name = environment.name.str();
    // Others may be at work, and may be cleaning up as well.
    if (!TRY(place.store->environment(environment.name)))
      continue;
    // An environment of a model, of files of states or of manifests has not stopped just because it
    // has no container, and its history would go with it.
    if (const std::string what = TRY(described_in(place, environment));
        !what.empty() && !environment.is_removing) {
      if (cleaning.all)
        cleaned.kept.emplace_back(name, what);
      continue;
    }
    if (!TRY(is_to_go(place, environment, cleaning.all)))
      continue;
    Result<RemovalResult> gone = remove_environment(place, name, {cleaning.wait, false});
    if (!gone && !TRY(place.store->environment(environment.name)))
      continue;
    Summary summary = TRY(std::move(gone).context(cat("environment `", name, "`"))).summary;
    if (!summary.good()) {
      cleaned.left.emplace_back(name, std::move(summary));
      continue;
    }
    cleaned.environments.push_back(name);
    removed(name);
  }
  cleaned.contents = TRY(place.blobs->clear());
  cleaned.images = TRY(remove_old_images(place));
  if (cleaning.older_than)
    cleaned.events = TRY(place.store->forget_before(place.clock() - *cleaning.older_than));
  return cleaned;
}

}  // namespace fettle
