#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/text.h"
#include "base/words.h"
#include "cli/commands/commands.h"
#include "cli/commands/package_options.h"
#include "cli/commands/service_common.h"
#include "cli/kurtosis_forms.h"
#include "cli/print.h"
#include "core/open_payload.h"
#include "documents/service_config.h"
#include "documents/services.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "packages/names.h"
#include "value/json.h"
#include "value/yaml.h"
#include "verbs/environments/environments.h"
#include "verbs/environments/files.h"
#include "verbs/environments/services.h"

namespace fettle {

Status to_terminal(OutputStream stream, std::string_view bytes) {
  std::FILE* const file = stream == OutputStream::out ? stdout : stderr;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fflush(file) != 0)
    return output_error(stream == OutputStream::out ? "standard output" : "standard error");
  return {};
}

Result<std::string> service_asked(const Face& face, const Environment& environment) {
  std::string name = face.parsed.argument(face.parsed.has("enclave") ? 0 : 1);
  if (name.empty())
    return user_error(
        cat("name the service: `fettle service ls ", environment.name, "` lists all"));
  return name;
}

Result<ChosenService> choose_service(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const std::string name = TRY(service_asked(face, environment));
  return ChosenService{place, environment.name, TRY(inspect_service(*place, environment, name))};
}

Result<Value> filled(const Workplace& place, const Name& environment,
                     const Attributes& attributes) {
  const Known known = TRY(place.store->known(environment));
  return fill_holes(dict_of(attributes), [&](const Output& hole) -> const Value* {
    const auto found = known.find({environment, hole.kind, hole.name});
    return found == known.end() ? nullptr : follow(dict_of(found->second->outputs), hole.path);
  });
}

namespace {

Result<int> service_restart(Face& face) {
  const EditSession editing = TRY(begin_editing(face));
  const RecordPointer service = TRY(find_service(*editing.place, editing.environment.name,
                                                 TRY(service_asked(face, editing.environment))));
  for (const Verb verb : {Verb::stop, Verb::start})
    if (const Summary summary =
            TRY(transit_services(*editing.place, *editing.edit, {service}, verb));
        !summary.good())
      return tell_failed(face, summary);
  const std::string_view name = service_name(service->applied->key);
  if (face.json)
    print_json(transit_document(name, "restarted", true));
  else if (!face.quiet)
    print_error(cat("service `", name, "` restarted"));
  return 0;
}

Result<int> service_ls(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const EnvironmentView view = TRY(inspect_environment(*place, environment.name.str()));
  const bool whole = face.parsed.flag("full-uuids");
  std::vector<std::vector<std::string>> rows{{"UUID", "Name", "Ports", "Status"}};
  for (const ServiceView& service : view.services)
    rows.push_back({whole ? service.uuid : service.uuid.substr(0, 12), service.name,
                    ports_text(service), upper_case(service.status)});
  if (face.json)
    print_json(briefs_of(view.services));
  else
    print(table(rows));
  return 0;
}

/// In Kurtosis' forms: text, or its configuration as a document.
void print_kurtosis_service(const Face& face, const Workplace& place, const ServiceView& service,
                            const Attributes& attributes) {
  const std::string output = face.parsed.text("output");
  const Value told = shown(place, attributes);
  const Value config =
      kurtosis_config_of(told, service.status == "running" ? dict_of(service.outputs) : Value());
  if (face.json)
    print_json_of_original(config);
  else if (output == "yaml")
    print(write_yaml(config));
  else
    print(kurtosis_service(service, told,
                           face.parsed.flag("full-uuid") || face.parsed.flag("full-uuids")));
}

Result<int> service_inspect(Face& face) {
  const bool is_kurtosis = TRY(has_kurtosis_form(face));
  const ChosenService chosen = TRY(choose_service(face));
  const ServiceView& service = chosen.service;
  const Attributes attributes =
      TRY(filled(*chosen.place, TRY(environment_of(face, 0)).name, service.attributes));
  if (is_kurtosis) {
    print_kurtosis_service(face, *chosen.place, service, attributes);
    return 0;
  }
  const Value document = document_of(*chosen.place, service, attributes);
  if (face.json || face.parsed.text("output", "yaml") == "json")
    print_json(document);
  else
    print(write_yaml(document));
  return 0;
}

Result<int> service_transit(Face& face, Verb verb, std::string_view done) {
  const EditSession editing = TRY(begin_editing(face));
  const auto find = verb == Verb::remove ? find_service_or_attempt : find_service;
  const RecordPointer service = TRY(find(*editing.place, editing.environment.name,
                                         TRY(service_asked(face, editing.environment))));
  const std::string_view name = service_name(resource_of_then(*service)->key);
  const Summary summary = TRY(transit_services(*editing.place, *editing.edit, {service}, verb));
  if (!summary.good())
    return tell_failed(face, summary);
  if (face.json)
    print_json(transit_document(name, done, summary.done > 0));
  else if (!face.quiet)
    print_error(cat("service `", name, "` ", summary.done == 0 ? "was already " : "", done));
  if (verb == Verb::start)
    warn_of_ends(face, *editing.place, editing.environment.name, {std::string(name)});
  return 0;
}
Result<int> service_stop(Face& face) { return service_transit(face, Verb::stop, "stopped"); }
Result<int> service_start(Face& face) { return service_transit(face, Verb::start, "started"); }
Result<int> service_remove(Face& face) { return service_transit(face, Verb::remove, "removed"); }

/// `http=80/tcp`, `db=http:5432`, `5432`.
Result<Entry> port_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos)
    return user_error(
        cat("the port `", text, "` must be written `ID=[PROTOCOL:]NUMBER[/tcp|udp]`"));
  const std::string id = text.substr(0, equals);
  TRY(check_port_id(id));
  std::string rest = text.substr(equals + 1), application, transport = "TCP";
  if (const size_t colon = rest.find(':'); colon != rest.npos) {
    application = rest.substr(0, colon);
    rest = rest.substr(colon + 1);
  }
  if (const size_t slash = rest.find('/'); slash != rest.npos) {
    transport = upper_case(rest.substr(slash + 1));
    rest.resize(slash);
  }
  int number = 0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const bool is_number = !rest.empty() && rest.find_first_not_of("0123456789") == rest.npos;
  if (is_number && (failure != std::errc() || number < 1 || number > 65535))
    return user_error(cat("the number of the port `", text, "` must be between 1 and 65535"));
  if (failure != std::errc() || end != rest.data() + rest.size() || number < 1 || number > 65535 ||
      (transport != "TCP" && transport != "UDP" && transport != "SCTP"))
    return user_error(
        cat("the port `", text, "` must be written `ID=[PROTOCOL:]NUMBER[/tcp|udp]`"));
  return Entry{id, Value::dict({{"number", number},
                                {"transport", transport},
                                {"application", application.empty() ? Value() : Value(application)},
                                {"wait", "2m"},
                                {"url", Value()}})};
}

/// JSON itself, a file of it, or `-` for what is piped in.
Result<Value> json_service_config(const std::string& given) {
  if (trim(given).starts_with('{'))
    return attributes_of_json(TRY(read_json(given, "--json-service-config")));
  return attributes_of_json(TRY(read_json(TRY(read_given(given)), shown_file(given))));
}

std::string no_artifact(const Known& known, const Name& environment, const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto& [name, record] : files_artifacts(known))
    names.push_back(name);
  const std::string near = suggestion(wanted, names);
  return cat("there is no files artifact `", wanted, "` in `", environment, "`",
             !near.empty()   ? near
             : names.empty() ? "; it has none"
                             : cat("; it has ", join(names, ", ")));
}

/// The attributes that the options of `add` and `update` ask for.
Result<Value> asked_attributes(Face& face, const Workplace& place, const Name& environment) {
  std::vector<Entry> entries;
  const CommandLine& parsed = face.parsed;
  if (const std::string json = parsed.text("json-service-config"); !json.empty())
    return with_last_authors(TRY(json_service_config(json)), TRY(place.store->known(environment)));
  if (parsed.has("image"))
    entries.push_back({"image", parsed.text("image")});
  for (const char* const option : {"cmd", "entrypoint"})
    if (parsed.has(option)) {
      // An empty one takes the image's.
      Result<std::vector<std::string>> words = trim(parsed.text(option)).empty()
                                                   ? std::vector<std::string>()
                                                   : split_command(parsed.text(option));
      if (!words)
        return user_error(cat("`--", option, "`: ", words.error().message));
      entries.push_back({option, Value::list({words->begin(), words->end()})});
    }
  if (parsed.has("env")) {
    std::vector<Entry> variables;
    for (const std::string& given : parsed.all("env"))
      for (const std::string_view one : split(given, ',')) {
        const size_t equals = one.find('=');
        // A comma may belong to a value.
        if (equals == one.npos && one.data() != given.data()) {
          variables.back().value = cat(variables.back().value.text(), ",", one);
          continue;
        }
        if (equals == one.npos)
          return user_error(cat("the variable `", one, "` must be written `NAME=VALUE`"));
        variables.push_back({one.substr(0, equals), one.substr(equals + 1)});
      }
    entries.push_back({"env", Value::dict(std::move(variables))});
  }
  if (parsed.has("ports")) {
    std::vector<Entry> ports;
    for (const std::string& given : parsed.all("ports"))
      for (const std::string_view one : split(given, ','))
        ports.push_back(TRY(port_of(std::string(one))));
    entries.push_back({"ports", Value::dict(std::move(ports))});
  }
  if (parsed.has("files")) {
    std::vector<Entry> files;
    const Known known = TRY(place.store->known(environment));
    const std::map<std::string, RecordPointer> artifacts = files_artifacts(known);
    for (const std::string& given : parsed.all("files"))
      for (const std::string_view one : split(given, ',')) {
        const size_t colon = one.find(':');
        const std::string artifact(colon == one.npos ? std::string_view() : one.substr(colon + 1));
        if (artifact.empty())
          return user_error(cat("the files `", one, "` must be written `PATH:ARTIFACT`"));
        const auto found = artifacts.find(artifact);
        if (found == artifacts.end())
          return user_error(no_artifact(known, environment, artifact));
        files.push_back(
            {one.substr(0, colon),
             Value::list({write(mounted_artifact(found->second->applied->key.name.view()))})});
      }
    entries.push_back({"files", Value::dict(std::move(files))});
  }
  if (parsed.has("privileged"))
    entries.push_back({"privileged", parsed.flag("privileged")});
  if (parsed.has("ip-address-placeholder"))
    entries.push_back({"address_placeholder", parsed.text("ip-address-placeholder")});
  return Value::dict(std::move(entries));
}

Result<int> put(Face& face, const EditSession& editing, PutService service) {
  const Key key{editing.environment.name, "service", service.name};
  const bool is_new = service.is_new;
  const EditResult edited =
      TRY(put_service(*editing.place, *editing.edit, editing.environment, std::move(service)));
  const RecordPointer record = edited.find(key);
  if (!edited.summary.good() || record == nullptr)
    return std::max(1, tell_failed(face, edited.summary));
  const Outputs& outputs = record->outputs;
  if (face.json)
    print_json(put_document(service_name(key), outputs));
  else if (!face.quiet)
    print(cat("Service '", service_name(key), is_new ? "' added" : "' updated",
              " with service UUID '", read_one<&ServiceOutputs::uuid>(outputs), "'"));
  else if (is_new)
    print(service_name(key));
  warn_of_ends(face, *editing.place, editing.environment.name, {std::string(service_name(key))});
  return 0;
}

Result<int> service_add(Face& face) {
  const size_t at = face.parsed.has("enclave") ? 0 : 1;
  const std::string name = face.parsed.argument(at), image = face.parsed.argument(at + 1);
  if (name.empty())
    return user_error("name the service and its image: `fettle service add ENCLAVE NAME IMAGE`");
  TRY(check_service_name(name));
  const EditSession editing = TRY(begin_editing(face));
  Value attributes = TRY(asked_attributes(face, *editing.place, editing.environment.name));
  // Kurtosis: what a whole configuration says counts.
  if (!image.empty() && attributes.find("image") == nullptr)
    attributes = merged_attributes(attributes, Value::dict({{"image", image}}));
  if (read_one<&Service::image>(attributes).empty())
    return user_error("name the image of the service");
  return put(face, editing, {name, attributes, true});
}

Result<int> update(Face& face) {
  const EditSession editing = TRY(begin_editing(face));
  const RecordPointer service = TRY(find_service(*editing.place, editing.environment.name,
                                                 TRY(service_asked(face, editing.environment))));
  const Resource& now = *service->applied;
  if (service->is_adopted)
    return user_error(cat("the settings of `", service_name(now.key),
                          "` are not known, since the store was lost: run its package again, or "
                          "remove the service and add it again"));
  const Value change = TRY(asked_attributes(face, *editing.place, editing.environment.name));
  if (change.is_dict() && change.entries().empty())
    return user_error(cat("nothing to change about `", service_name(now.key),
                          "`: give the settings that are to change, such as `--env NAME=VALUE`"));
  return put(face, editing,
             {now.key.name.str(), merged_attributes(dict_of(now.attributes), change), false});
}

std::vector<CommandOption> config_options() {
  return {{{"--image"}, "IMAGE", "the image"},
          {{"--cmd"}, "WORDS", "the command"},
          {{"--entrypoint"}, "WORDS", "the entrypoint"},
          {{"--env"}, "NAME=VALUE,…", "environment variables", true},
          {{"--ports"}, "ID=[PROTOCOL:]NUMBER[/tcp|udp],…", "ports", true},
          {{"--files"}, "PATH:ARTIFACT,…", "files artifacts to mount", true},
          {{"--ip-address-placeholder"}, "TEXT", "a placeholder for the service's own address"},
          {{"--json-service-config"},
           "FILE|-|JSON",
           "the whole configuration, as `service inspect -o json` prints it or as a ServiceConfig"},
          {{"--privileged"}, "", "run the service privileged"}};
}

}  // namespace

std::vector<Command> service_commands() {
  const std::string one = "ENCLAVE SERVICE";
  const CommandGroup group{"services", {environment_option()}};
  std::vector<Command> commands{
      group.reader("service ls", "ENCLAVE", 0, 1, "Lists the services of an environment.",
                   {"fettle service ls shop", "fettle service ls -e shop --output json"},
                   service_ls, {{{"--full-uuids"}, "", "show full uuids"}}),
      group.reader("service inspect", one, 1, 2, "Shows everything about a service.",
                   {"fettle service inspect shop web", "fettle service inspect shop web -o json"},
                   service_inspect,
                   {{{"--full-uuid"},
                     "",
                     "show the full uuid with `--format kurtosis`; other forms always do"},
                    kurtosis_form_option()}),
      logs_command(),
      group.make("service add", "ENCLAVE NAME IMAGE", 1, 3, "Adds a service.",
                 {"fettle service add shop cache redis:7 --ports db=6379",
                  "fettle service add shop web nginx --env A=b,C=d"},
                 service_add, config_options()),
      group.make("service update", one, 1, 2,
                 "Changes a service: the given settings change, the others stay.",
                 {"fettle service update shop web --image nginx:1.27",
                  "fettle service update shop web --env DEBUG=1"},
                 update, config_options()),
      group.make("service stop", one, 1, 2, "Stops a service; address, ports and files stay.",
                 {"fettle service stop shop web", "fettle service stop -e shop web"}, service_stop),
      group.make("service start", one, 1, 2, "Starts a stopped service.",
                 {"fettle service start shop web", "fettle service start -e shop web"},
                 service_start),
      group.make("service restart", one, 1, 2, "Stops and starts a service.",
                 {"fettle service restart shop web", "fettle service restart -e shop web"},
                 service_restart),
      group.make("service rm", one, 1, 2,
                 "Removes a service; the next run of its package creates it again.",
                 {"fettle service rm shop web", "fettle service rm -e shop web"}, service_remove),
  };
  for (Command& command : inside_commands())
    commands.push_back(std::move(command));
  for (Command& command : commands)
    if (command.words == "service inspect")
      command.outputs = {"yaml"};
  return commands;
}

}  // namespace fettle
