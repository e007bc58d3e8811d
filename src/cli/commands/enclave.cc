#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/package_options.h"
#include "cli/kurtosis_forms.h"
#include "cli/print.h"
#include "documents/environments.h"
#include "kinds/kinds.h"
#include "workplace/machines.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

std::string short_uuid(const std::string& uuid, bool whole) {
  return whole ? uuid : uuid.substr(0, 12);
}

Result<int> enclave_add(Face& face) {
  Workplace* place = TRY(face.workplace());
  std::string name = face.parsed.text("name", face.parsed.argument(0));
  if (name.empty())
    name = cat("enclave-", new_uuid(*place).substr(0, 6));
  const auto [made, summary] = TRY(add_environment(*place, name, face.parsed.flag("production"),
                                                   !face.parsed.flag("no-lease-wait")));
  if (!summary.good())
    return tell_failed(face, summary);
  if (face.json)
    print_json(document_of(made));
  else
    print(cat(face.quiet ? "" : "Created enclave: ", made.name));
  return 0;
}

Result<int> enclave_ls(Face& face) {
  Workplace* place = TRY(face.workplace());
  const bool whole = face.parsed.flag("full-uuids");
  std::vector<std::vector<std::string>> rows{{"UUID", "Name", "Status", "Creation Time"}};
  std::vector<std::pair<Environment, std::string>> listed;
  std::vector<Value> values;
  const bool is_kurtosis = TRY(has_kurtosis_form(face));
  bool any_found = false;
  for (const Environment& environment : TRY(list_environments(*place))) {
    if (environment.uuid.empty()) {
      any_found = true;
      rows.push_back({"", environment.name.str(), "FOUND", ""});
      values.push_back(value_of(environment, "found"));
      listed.emplace_back(environment, "found");
      continue;
    }
    const Result<EnvironmentView> view = inspect_environment(*place, environment.name.str());
    const std::string status = view ? view->status : "unknown";
    rows.push_back({short_uuid(environment.uuid, whole), environment.name.str(), upper_case(status),
                    to_string(environment.created)});
    values.push_back(value_of(environment, status));
    listed.emplace_back(environment, status);
  }
  if (face.json)
    print_json(Value::list(std::move(values)));
  else
    print(is_kurtosis ? kurtosis_environments(std::move(listed), whole) : table(rows));
  if (any_found)
    print_error(
        "the engine has environments that are not in the store; `fettle enclave inspect NAME` "
        "adopts one");
  return 0;
}

/// Rows about a model, files of states or manifests; none of an environment of packages.
std::vector<std::vector<std::string>> described_rows(const Environment& environment,
                                                     const Inventory& about) {
  std::vector<std::vector<std::string>> rows;
  if (about.is_fleet)
    rows.push_back({"Manifests:", cat("version ", about.newest, " (`fettle get KIND`)")});
  else if (about.versions > 0)
    rows.push_back({"Model:", cat("version ", about.newest, ", ",
                                  about.released == 0 ? std::string("none released")
                                                      : cat("released ", about.released))});
  if (about.versions > 0 || environment.detail.bool_at("states"))
    rows.push_back({"Resources:", std::to_string(about.resources)});
  if (!about.machine.empty())
    rows.push_back({"On:", about.machine});
  return rows;
}

Result<int> enclave_inspect(Face& face) {
  const bool is_kurtosis = TRY(has_kurtosis_form(face));
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_or_project(face));
  const EnvironmentView view = TRY(inspect_environment(*place, environment.name.str()));
  const Inventory about = TRY(take_inventory(*place, environment.name));
  if (face.json) {
    print_json(document_of(view, about));
    return 0;
  }
  const bool whole = face.parsed.flag("full-uuids");
  if (is_kurtosis) {
    print(kurtosis_environment(view, whole));
    return 0;
  }
  std::vector<std::vector<std::string>> head{{"Name:", environment.name.str()},
                                             {"UUID:", short_uuid(environment.uuid, whole)},
                                             {"Status:", upper_case(view.status)},
                                             {"Creation Time:", to_string(environment.created)}};
  for (std::vector<std::string>& row : described_rows(environment, about))
    head.push_back(std::move(row));
  print(table(head));
  std::vector<std::vector<std::string>> files{{"UUID", "Name"}},
      services{{"UUID", "Name", "Ports", "Status"}};
  for (const ArtifactView& artifact : view.artifacts)
    files.push_back({short_uuid(artifact.uuid, whole), artifact.name});
  for (const ServiceView& service : view.services)
    services.push_back({short_uuid(service.uuid, whole), service.name,
                        service.outputs.is_null() ? "<none>" : ports_text(service),
                        upper_case(service.status)});
  print(cat("\n", in(Colour::bold, "Files Artifacts", face.colour), "\n", table(files)));
  print(cat("\n", in(Colour::bold, "User Services", face.colour), "\n", table(services)));
  if (about.orphans.empty())
    return 0;
  std::vector<std::vector<std::string>> orphans{{"Resource", "Was declared at"}};
  for (const Orphan& orphan : about.orphans)
    orphans.push_back({shown_key(orphan.key), orphan.origin.str()});
  print(cat("\n", in(Colour::bold, "Orphans", face.colour), " (`fettle orphans rm ",
            environment.name, " --all` removes them)\n", table(orphans)));
  return 0;
}

/// All of it, for nobody else will know any more: a few on the line, more on lines of their own.
std::string staying_text(const std::vector<KeptThing>& staying, const std::string& machine) {
  const bool has_lines = staying.size() > 3;
  std::string text;
  for (const KeptThing& one : staying)
    text += cat(has_lines ? "\n  " : text.empty() ? " " : ", ", one.shown);
  return text.empty() ? ""
                      : cat("; left on ",
                            machine.empty() ? std::string("this machine") : cat("`", machine, "`"),
                            ":", text);
}

/// Says what `--keep` does not keep, and how fettle gets to know again what it does.
std::string keeping_text(const std::map<Name, size_t>& taken, bool has_staying) {
  std::string text;
  if (taken.contains(service_kind().name()))
    text = "containers go with their environment, also with `--keep`";
  if (has_staying)
    text += cat(text.empty() ? "" : "; ",
                "deploying the model or applying the states again takes over the rest");
  return text;
}

/// `: 1 network, 2 services`.
std::string taken_text(const std::map<Name, size_t>& taken) {
  std::string text;
  for (const auto& [kind, count] : taken) {
    const std::string_view what = kind == "handled" ? "handled resource" : kind.view();
    text += cat(text.empty() ? ": " : ", ", count, " ", what, count == 1 ? "" : "s");
  }
  return text;
}

/// A verb for each environment that is named, once all of them pass a check.
template <typename Check, typename Verb>
Result<int> each(Face& face, Check check, Verb verb, std::string_view done) {
  Workplace* place = TRY(face.workplace());
  std::vector<std::string> names = face.parsed.arguments;
  if (const std::string named = face.parsed.text("enclave"); names.empty() && !named.empty())
    names.push_back(named);
  if (names.empty())
    return user_error("name an environment: `fettle enclave ls` lists all");
  // A wrong name is reported before anything is done.
  std::vector<Environment> environments;
  for (const std::string& name : names)
    if (Environment found = TRY(known_environment(face, name));
        std::ranges::find(environments, found.name, &Environment::name) == environments.end())
      environments.push_back(std::move(found));
  for (const Environment& environment : environments)
    TRY(check(*place, environment.name));
  std::vector<Value> told;
  int code = 0;
  for (const Environment& environment : environments) {
    const std::string machine = TRY(machine_name(*place, environment.name));
    const RemovalResult removed = TRY(
        verb(*place, environment.name.str()).context(cat("environment `", environment.name, "`")));
    const auto& [summary, taken, staying, shared] = removed;
    const bool is_good = summary.good();
    told.push_back(value_of(environment.name, is_good ? done : "failed", removed));
    if (!is_good)
      code = std::max(code, tell_end(face, summary));
    else if (!face.quiet && !face.json)
      print_error(
          cat(environment.name, " ", done, taken_text(taken), staying_text(staying, machine)));
    if (is_good && !face.quiet && !face.json)
      for (const auto& [key, sharer] : shared)
        print_error(
            cat("  left in place: ", shown_key(key), ": ", to_string(sharer, environment.name)));
    if (is_good && !face.quiet && !face.json && face.parsed.has("keep"))
      if (const std::string text = keeping_text(taken, !staying.empty()); !text.empty())
        print_error(cat("  ", text));
    if (is_good && done == "started")
      warn_of_ends(face, *place, environment.name);
    if (summary.stopped)
      break;
  }
  if (face.json)
    print_json(Value::list(std::move(told)));
  return code;
}

/// A verb that takes nothing away.
template <typename Verb>
Result<int> enclave_transit(Face& face, Verb verb, std::string_view done) {
  const bool wait = !face.parsed.flag("no-lease-wait");
  return each(
      face, check_transit,
      [&](const Workplace& place, const std::string& name) -> Result<RemovalResult> {
        return RemovalResult{TRY(verb(place, name, wait)), {}, {}, {}};
      },
      done);
}

Result<int> enclave_stop(Face& face) { return enclave_transit(face, stop_environment, "stopped"); }
Result<int> enclave_start(Face& face) {
  return enclave_transit(face, start_environment, "started");
}
Result<int> enclave_restart(Face& face) {
  return enclave_transit(face, restart_environment, "restarted");
}

Result<int> enclave_remove(Face& face) {
  if (face.parsed.flag("keep") && face.parsed.flag("prune"))
    return user_error("`--keep` and `--prune` contradict each other: give one of them");
  const Removal removal{!face.parsed.flag("no-lease-wait"), face.parsed.flag("prune")};
  return each(
      face, [](const Workplace&, const Name&) { return Status(); },
      [&](const Workplace& place, const std::string& name) {
        return remove_environment(place, name, removal);
      },
      "removed");
}

}  // namespace

std::vector<Command> enclave_commands() {
  const CommandOption whole{{"--full-uuids"}, "", "show full uuids"},
      force{{"-f", "--force"},
            "",
            "accepted for scripts; running environments are removed in any case"};
  const CommandGroup group{"environments", {}};
  return {
      group.make("enclave add", "[NAME]", 0, 1, "Creates an empty environment: only a network.",
                 {"fettle enclave add shop", "fettle enclave add -n shop --production"},
                 enclave_add,
                 {{{"-n", "--name"}, "NAME", "its name (default: a generated one)"},
                  {{"-p", "--production"}, "", "restart services when they exit"},
                  {{"-l", "--api-container-log-level"},
                   "LEVEL",
                   "accepted for scripts; fettle runs no helper containers"},
                  {{"-a", "--api-container-version"}, "VERSION", "accepted for scripts"}}),
      group.reader("enclave ls", "", 0, 0, "Lists the environments.",
                   {"fettle enclave ls", "fettle enclave ls --output json"}, enclave_ls,
                   {whole, kurtosis_form_option()}),
      group.reader("enclave inspect", "[NAME]", 0, 1,
                   "Shows the services, ports and files of an environment.",
                   {"fettle enclave inspect shop", "fettle enclave inspect shop --output json"},
                   enclave_inspect, {environment_option(), whole, kurtosis_form_option()}),
      group.make("enclave stop", "NAME…", 0, 99,
                 "Stops every service; addresses, ports and files stay.",
                 {"fettle enclave stop shop", "fettle enclave stop shop other"}, enclave_stop,
                 {environment_option()}),
      group.make("enclave start", "NAME…", 0, 99, "Starts every service that is stopped.",
                 {"fettle enclave start shop", "fettle enclave start shop other"}, enclave_start,
                 {environment_option()}),
      group.make("enclave restart", "NAME…", 0, 99, "Stops and starts every service.",
                 {"fettle enclave restart shop", "fettle enclave restart shop other"},
                 enclave_restart, {environment_option()}),
      group.make(
          "enclave rm", "NAME…", 0, 99, "Removes environments and everything in them.",
          {"fettle enclave rm shop", "fettle enclave rm -f shop other"}, enclave_remove,
          {environment_option(),
           force,
           {{"--keep"},
            "",
            "leave files and other things that models and states made (default); containers go"},
           {{"--prune"},
            "",
            "also remove what models and states made on this machine, but not what existed "
            "before"}}),
  };
}

}  // namespace fettle
