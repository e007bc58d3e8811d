#include "verbs/environments/explain.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "documents/events.h"
#include "documents/resources.h"
#include "documents/workloads.h"
#include "verbs/fleet/store_fleet.h"
#include "verbs/fleet/workload_why.h"
#include "verbs/models/export_model.h"
#include "verbs/packages/secrets.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

Result<int> set_show(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_or_project(face));
  const std::string what = face.parsed.argument(face.parsed.has("enclave") ? 0 : 1);
  const bool is_at_work = TRY(place->store->holder(environment.name)).has_value();
  const Known known = TRY(place->store->known(environment.name));
  if (!what.empty()) {
    std::vector<Value> records;
    for (const Key& key : TRY(find_keys(*place, environment.name, what)))
      records.push_back(value_of(*place, key, *known.at(key), is_at_work));
    print_json(records.size() == 1 ? records[0] : Value::list(std::move(records)));
    return 0;
  }
  std::map<uint64_t, std::vector<std::pair<Key, RecordPointer>>> in_order;
  for (const auto& [key, record] : known)
    in_order[record->sequence].emplace_back(key, record);
  std::vector<Value> values;
  std::vector<std::vector<std::string>> rows{{"RESOURCE", "STATE", "DECLARED AT"}};
  for (const auto& [sequence, records] : in_order)
    for (const auto& [key, record] : records) {
      values.push_back(value_of(*place, key, *record, is_at_work));
      const Resource* resource = resource_of_then(*record);
      rows.push_back({shown_key(key), std::string(state_of(*record, is_at_work)),
                      resource == nullptr ? "" : resource->origin.str()});
    }
  if (face.json)
    print_json(Value::list(std::move(values)));
  else
    print(table(rows));
  return 0;
}

/// A kind may be short, as in other commands of workloads: `clone/web`.
Result<std::vector<WorkloadWhy>> workloads_meant(FleetAccess& fleet, const std::string& what) {
  const size_t slash = what.find('/');
  const auto kind = slash == what.npos ? Result<std::string>(std::string())
                                       : kind_named(std::string_view(what).substr(0, slash));
  return why_workloads(fleet, kind && !kind->empty() ? cat(*kind, what.substr(slash)) : what);
}

void print_why(const WorkloadWhy& why) {
  for (size_t i = 0; i < why.lines.size(); ++i)
    print(cat(i == 0 ? "" : "  ", hanging(why.lines[i], 4)));
}

void print_why(const std::vector<Cause>& causes) {
  if (!causes.empty())
    print(why_text(causes));
}

/// Null: what is kept on this machine is meant.
Result<std::unique_ptr<ClusterFleet>> cluster_meant(Face& face) {
  std::unique_ptr<ClusterFleet> fleet = TRY(cluster_fleet_asked(face));
  if (fleet == nullptr && face.parsed.has("namespace"))
    return user_error("`--namespace` needs `--kubeconfig`");
  return fleet;
}

/// In a cluster only workloads are known.
Result<int> tell_why_in_cluster(Face& face, FleetAccess& fleet) {
  const std::string what = face.parsed.argument(0);
  const std::vector<WorkloadWhy> found = TRY(workloads_meant(fleet, what));
  if (found.empty()) {
    std::vector<std::string> names;
    for (const workloads::Object& object :
         TRY(fleet.with_status([](const workloads::Object&) { return true; })))
      names.push_back(object.name.str());
    return user_error(cat("there is no workload `", printable(what), "` in the namespace `",
                          printable(space_of(face)), "` of the cluster", suggestion(what, names)));
  }
  std::vector<Value> documents;
  for (const WorkloadWhy& workload : found)
    if (face.json)
      documents.push_back(document_of(fleet.environment(), workload));
    else
      print_why(workload);
  if (face.json)
    print_json(Value::list(std::move(documents)));
  return 0;
}

Result<int> tell_why(Face& face) {
  // `KIND/NAMESPACE/NAME` says where.
  const std::string asked = face.parsed.argument(0);
  if (const auto parts = split(asked, '/'); is_about_cluster(face.parsed) && parts.size() == 3)
    face.parsed.options["namespace"] = {std::string(parts[1])};
  if (const auto cluster = TRY(cluster_meant(face)))
    return tell_why_in_cluster(face, *cluster);
  Workplace* place = TRY(face.workplace());
  std::string what = face.parsed.argument(0), name = face.parsed.text("enclave");
  // Without an environment, the project's is meant if it knows the thing, else any that does.
  std::vector<Name> environments;
  if (name.empty()) {
    const Result<std::string> own = environment_of_export({});
    for (const Environment& environment : TRY(place->store->environments()))
      environments.insert(
          own && environment.name == *own ? environments.begin() : environments.end(),
          environment.name);
    if (own && !environments.empty() && environments[0] == *own &&
        (environments.size() == 1 || find_keys(*place, environments[0], what)))
      environments.resize(1);
  } else {
    environments.push_back(TRY(known_environment(face, name)).name);
  }
  std::optional<Error> nothing;
  std::vector<Value> documents;
  size_t found = 0;
  for (const Name& environment : environments) {
    StoreFleet fleet(*place, environment);
    const std::vector<WorkloadWhy> workloads = TRY(workloads_meant(fleet, what));
    const Result<std::vector<Key>> keys = find_keys_of_events(*place, environment, what);
    if (!keys && workloads.empty()) {
      // Of several environments, the one that knows something similar is worth a message.
      if (!nothing || nothing->message.find("did you mean") == std::string::npos)
        nothing = keys.error();
      continue;
    }
    ++found;
    TRY(recall_secrets(*place, environment));
    if (environments.size() > 1 && !face.json)
      print(in(Colour::bold, cat(environment, ":"), face.colour));
    for (const WorkloadWhy& workload : workloads)
      if (face.json)
        documents.push_back(document_of(environment, workload));
      else
        print_why(workload);
    for (const Key& key : keys.value_or(std::vector<Key>())) {
      const std::vector<Cause> causes = TRY(why(*place, environment, key));
      if (face.json)
        documents.push_back(document_of(environment, key, causes));
      else
        print_why(causes);
    }
  }
  if (found == 0 && environments.size() > 1 &&
      nothing->message.find("did you mean") == std::string::npos)
    return user_error(cat("nothing is recorded about `", what, "` in any environment"));
  if (found == 0)
    return nothing.value_or(user_error("there are no environments yet"));
  if (face.json)
    print_json(Value::list(std::move(documents)));
  return 0;
}

Result<int> tell_drift(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_or_project(face));
  const std::optional<Holder> at_work = TRY(place->store->holder(environment.name));
  const std::vector<Drift> found = TRY(drift(*place, environment.name));
  if (at_work && !face.quiet)
    print_error(cat(to_string(*at_work), " is working on `", environment.name,
                    "`; resources that it is changing are not compared"));
  if (face.json)
    print_json(document_of(found));
  else if (found.empty())
    print("no drift");
  else
    for (const Drift& one : found)
      print(cat(shown_key(one.key), ": ", hanging(one.why, 4)));
  return !found.empty() && face.parsed.flag("detailed-exitcode") ? 4 : 0;
}

/// The last ones that are asked for.
template <typename T>
Result<std::vector<T>> last_asked(const Face& face, std::vector<T> all) {
  const int64_t last = TRY(face.parsed.number("num", 100));
  if (last < 0)
    return user_error(cat("`--num` must be 0 or more, not ", last));
  if (last > 0 && all.size() > static_cast<size_t>(last))
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(last));
  return all;
}

Result<int> events_in_cluster(Face& face, const ClusterFleet& fleet) {
  if (!face.parsed.arguments.empty())
    return user_error(cat("a cluster has no environments, so `", face.parsed.argument(0),
                          "` means nothing there; `--namespace` names a namespace"));
  const std::vector<ClusterEvent> events = TRY(last_asked(face, TRY(fleet.events())));
  if (face.json) {
    print_json(document_of(events));
    return 0;
  }
  for (const ClusterEvent& event : events)
    print(cat(to_string(event.time), " ", event.type, " ", event.reason, " ",
              owner_text(event.object), event.count == 1 ? "" : cat(" (", event.count, " times)"),
              ": ", hanging(event.text, 4)));
  return 0;
}

Result<int> events(Face& face) {
  if (const auto cluster = TRY(cluster_meant(face)))
    return events_in_cluster(face, *cluster);
  Workplace* place = TRY(face.workplace());
  Name environment;
  if (const std::string name = face.parsed.text("enclave", face.parsed.argument(0)); !name.empty())
    environment = TRY(known_environment(face, name)).name;
  const std::vector<Event> all =
      TRY(last_asked(face, TRY(place->store->events(environment, 0, 1'000'000))));
  for (const Event& event : all)
    TRY(recall_secrets(*place, event.environment));
  if (face.json) {
    print_json(document_of(all));
    return 0;
  }
  for (const Event& event : all) {
    const std::string what = event.key.kind.empty() ? "" : shown_key(event.key);
    print(cat(to_string(event.time), " ", event.environment, " ", to_string(event.type),
              what.empty() ? "" : cat(" ", to_string(event.verb), " ", what),
              event.text.empty() ? "" : cat(": ", hanging(event.text, 4))));
    if (const Value& lines = event.detail.at("printed"); lines.is_list())
      for (const Value& line : lines.items())
        print(cat("    printed: ", line.text()));
  }
  return 0;
}

Result<int> doctor(Face& face) {
  const auto [lines, well] = face.diagnosis();
  if (face.json || face.json_lines) {
    print_json(document_of(lines, well));
    return well ? 0 : 1;
  }
  for (const Diagnosis& line : lines)
    print(
        cat(in(line.good ? Colour::green : Colour::red, line.good ? "ok   " : "fail ", face.colour),
            line.text));
  return well ? 0 : 1;
}

const CommandGroup group{around_runs, {}};

/// Without the short form of `--namespace`, which means something else in some of these commands.
std::vector<CommandOption> options_with_cluster(std::vector<CommandOption> own) {
  own.push_back({{"--namespace"}, "NAME", "of the cluster (default: that of the context)"});
  const std::vector<CommandOption>& more = cluster_look_options();
  own.insert(own.end(), more.begin(), more.end());
  return own;
}

}  // namespace

std::string why_text(const std::vector<Cause>& causes) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < causes.size(); ++i) {
    lines.push_back(cat(i == 0 ? "" : "  because ", hanging(to_string(causes[i]), 4)));
    if (causes[i].outcome)
      lines.push_back(cat("  ", hanging(outcome_text(causes[i]), 4)));
    if (causes[i].is_settled_since)
      lines.push_back(cat("  ", since_text(causes[i])));
  }
  return join(lines, "\n");
}

Command why_command() {
  Command command = group.reader(
      "why", "WHAT", 1, 1,
      "Explains why something was done: KIND/NAME, a service's name, or FILE:LINE; of a workload, "
      "why it is where it is.",
      {"fettle why web -e shop", "fettle why main.star:12",
       "fettle why cloneset/web --kubeconfig ~/.kube/config"},
      tell_why, options_with_cluster({environment_option()}));
  command.needs_no_state = is_about_cluster;
  command.name_files = name_place;
  return command;
}
Command show_command() {
  return group.reader("show", "[ENCLAVE [WHAT]]", 0, 2,
                      "Shows what is recorded about an environment or one resource.",
                      {"fettle show shop", "fettle show shop service/web"}, set_show,
                      {environment_option()});
}
Command drift_command() {
  return group.reader(
      "drift", "[ENCLAVE]", 0, 1,
      "Shows what changed outside fettle since the last run (default: the project of this folder).",
      {"fettle drift shop", "fettle drift shop --detailed-exitcode"}, tell_drift,
      {environment_option(), {{"--detailed-exitcode"}, "", "exit code 4 when something changed"}});
}
Command events_command() {
  Command command = group.reader(
      "events", "[ENCLAVE]", 0, 1, "Shows what happened, in one environment or in all.",
      {"fettle events shop", "fettle events -n 20 --output jsonl",
       "fettle events --kubeconfig ~/.kube/config --namespace shop"},
      events,
      options_with_cluster(
          {environment_option(), {{"-n", "--num"}, "N", "the last N (100); 0: all"}}));
  command.needs_no_state = is_about_cluster;
  return command;
}
Command doctor_command() {
  return CommandGroup{"machine", {}, CommandPlace::here}.reader(
      "doctor", "", 0, 0, "Checks this machine: what is missing, and how to get it.",
      {"fettle doctor", "fettle doctor --engine unix:///run/podman/podman.sock"}, doctor);
}

}  // namespace fettle
