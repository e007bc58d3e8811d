/// `enclave dump`, `dump` and `engine logs`: folders for somebody who looks for what went wrong.

#include "verbs/environments/dump.h"

#include "base/new_folder.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/service_common.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "documents/environments.h"
#include "documents/machine.h"
#include "documents/resources.h"
#include "documents/services.h"
#include "value/json.h"
#include "verbs/environments/explain.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

/// A document as a file may hold it.
std::string file_text(const Workplace& place, const Value& document) {
  const Value told = place.shows_secrets ? reveal(document) : place.mask->value(document);
  return write_json(told, {.indent = 2}) + "\n";
}

/// What an environment has, in the order in which it was wanted.
Result<std::string> plan_text(const Workplace& place, const Name& environment) {
  const bool is_at_work = TRY(place.store->holder(environment)).has_value();
  const Known known = TRY(place.store->known(environment));
  std::vector<std::pair<Key, RecordPointer>> records(known.begin(), known.end());
  std::ranges::stable_sort(records, {}, [](const auto& one) { return one.second->sequence; });
  std::vector<Value> values;
  for (const auto& [key, record] : records)
    values.push_back(value_of(place, key, *record, is_at_work));
  return file_text(place, Value::list(std::move(values)));
}

Result<std::string> reasons_text(const Workplace& place, const Name& environment) {
  const Known known = TRY(place.store->known(environment));
  std::string text;
  for (const auto& [key, record] : known) {
    const std::vector<Cause> causes = TRY(why(place, known, key));
    text += cat(why_text(causes), "\n");
  }
  return place.shows_secrets ? text : place.mask->text(text);
}

DumpTexts texts_of(const Workplace& place, const Name& environment) {
  DumpTexts texts;
  texts.spec = [&place, environment](const ServiceView& service) -> Result<std::string> {
    const Attributes attributes = TRY(filled(place, environment, service.attributes));
    return file_text(place, document_of(place, service, attributes));
  };
  texts.beside["plan.json"] = [&place, environment] { return plan_text(place, environment); };
  texts.beside["why.txt"] = [&place, environment] { return reasons_text(place, environment); };
  return texts;
}

/// Says what a dump lacks; the exit code.
int tell_missing(const std::vector<std::string>& missing) {
  for (const std::string& line : missing)
    print_error(cat("missing: ", line));
  return missing.empty() ? 0 : failed_code;
}

void tell_dumped(const Face& face, std::string_view what, const std::string& folder) {
  print(face.quiet ? folder : cat("Dumped ", what, " to directory '", folder, "'"));
}

Result<int> enclave_dump(Face& face) {
  Workplace* const place = TRY(face.workplace());
  const size_t at = face.parsed.has("enclave") ? 0 : 1;
  if (face.parsed.arguments.size() > at + 1)
    return user_error("name one folder: `fettle enclave dump ENCLAVE [FOLDER]`");
  const Environment environment = TRY(environment_of(face, 0));
  NewFolder folder =
      TRY(NewFolder::make(face.parsed.argument(at, dump_name(environment.name, environment.uuid))));
  face.show_work(cat("dumping ", environment.name));
  DumpReport report =
      TRY(dump_environment(*place, environment, folder.path(), texts_of(*place, environment.name),
                           place->interrupt->acts_token()));
  TRY(folder.finish());
  report.folder = folder.name().string();
  if (face.json)
    print_json(value_of(report));
  else
    tell_dumped(face, cat("enclave '", environment.name, "'"), report.folder);
  return tell_missing(report.missing);
}

/// The engine that is used, and the log of the private Podman if there is one. Those of others are
/// kept by the system.
Status write_engine(Face& face, const Path& into) {
  Workplace* const place = TRY(face.workplace());
  const EngineState state = TRY(face.engine(EngineVerb::look));
  TRY(make_directories(into));
  TRY(write_file(into / "spec.json", file_text(*place, document_of(state))));
  const Path log = Path(state.folder) / "engine.log";
  if (!file_exists(log))
    return {};
  const ByteSource source = TRY(source_of_file(log));
  return write_file(into / "output.log", [&](const ByteSink& sink) { return pump(source, sink); });
}

/// `kurtosis-dump--1764412800`, as Kurtosis calls it.
std::string stamped(const Workplace& place, std::string_view name) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(place.clock().time_since_epoch());
  return cat(name, "--", now.count());
}

Result<int> dump_all(Face& face) {
  Workplace* const place = TRY(face.workplace());
  const std::stop_token stop = place->interrupt->acts_token();
  NewFolder folder =
      TRY(NewFolder::make(face.parsed.argument(0, stamped(*place, "kurtosis-dump"))));
  face.show_work("dumping everything");
  std::vector<std::string> missing;
  const auto miss = [&](std::string_view what, const Error& why) {
    missing.push_back(hidden(cat(what, ": ", to_string(why))));
  };
  if (const Status written = write_engine(face, folder.path() / "engines/engine"); !written)
    miss("engines", written.error());
  std::vector<DumpReport> reports;
  for (const Environment& environment : TRY(list_environments(*place))) {
    const std::string name = cat("enclaves/", dump_name(environment.name, environment.uuid));
    if (environment.uuid.empty()) {
      miss(name, world_error("only the engine knows it; `fettle enclave inspect` takes it over"));
      continue;
    }
    if (const Status known = recall_secrets(*place, environment.name); !known) {
      miss(name, known.error());  // they could not be hidden
      continue;
    }
    const Result<DumpReport> report = dump_environment(*place, environment, folder.path() / name,
                                                       texts_of(*place, environment.name), stop);
    if (stop.stop_requested())
      return world_error("interrupted; nothing was dumped");
    if (report) {
      reports.push_back(*report);
      continue;
    }
    miss(name, report.error());
    TRY(remove_tree(folder.path() / name));
  }
  TRY(make_directories(folder.path() / "enclaves"));
  if (!missing.empty())
    TRY(write_file(folder.path() / "missing.txt", join(missing, "\n") + "\n"));
  TRY(folder.finish());
  const std::string whole = folder.name().string();
  std::vector<std::string> all = missing;
  for (DumpReport& report : reports) {
    report.folder = cat(whole, "/enclaves/", Path(report.folder).filename().string());
    for (const std::string& line : report.missing)
      all.push_back(cat(report.environment, ": ", line));
  }
  if (face.json)
    print_json(dump_document(whole, reports, missing));
  else
    tell_dumped(face, counted(reports.size(), "enclave"), whole);
  return tell_missing(all);
}

Result<int> engine_logs(Face& face) {
  Workplace* const place = TRY(face.workplace());
  NewFolder folder =
      TRY(NewFolder::make(face.parsed.argument(0, stamped(*place, "kurtosis-engine-logs"))));
  TRY(write_engine(face, folder.path() / "engine"));
  const bool has_log = file_exists(folder.path() / "engine/output.log");
  TRY(folder.finish());
  const std::string name = folder.name().string();
  if (face.json)
    print_json(folder_document(name));
  else
    tell_dumped(face, "engine logs and information", name);
  if (!has_log && !face.quiet)
    print_error(
        "there is no private Podman; the system keeps the log of another engine, as "
        "`journalctl -u docker` shows");
  return 0;
}

}  // namespace

Command enclave_dump_command() {
  return with_files(
      CommandGroup{"environments", {environment_option()}}.make(
          "enclave dump", "ENCLAVE [FOLDER]", 0, 2,
          "Writes what is known of an environment into a new folder (default: NAME--UUID).\n"
          "For each service, the folder has spec.json and output.log; it also has the "
          "environment's\n"
          "files, its plan and the reasons.",
          {"fettle enclave dump shop", "fettle enclave dump shop logs/shop"}, enclave_dump),
      [](const CommandLine& parsed, NamedFiles& named) { name_written(parsed, 1, named); });
}
Command dump_command() {
  return with_files(
      CommandGroup{"environments", {}}.make("dump", "[FOLDER]", 0, 1,
                                            "Writes what is known of all environments and of the "
                                            "engine (default: kurtosis-dump--TIME).",
                                            {"fettle dump", "fettle dump logs/all"}, dump_all),
      [](const CommandLine& parsed, NamedFiles& named) { name_written(parsed, 0, named); });
}
Command engine_logs_command() {
  return CommandGroup{"machine", {}, CommandPlace::here}.make(
      "engine logs", "[FOLDER]", 0, 1,
      "Writes the state of the engine and the log of the private Podman into a new folder.",
      {"fettle engine logs", "fettle engine logs logs/engine"}, engine_logs);
}

}  // namespace fettle
