#include "server/answers.h"

#include "base/archive.h"
#include "base/text.h"
#include "documents/containers.h"
#include "documents/environments.h"
#include "documents/events.h"
#include "documents/files.h"
#include "documents/graphs.h"
#include "documents/resources.h"
#include "documents/versions.h"
#include "documents/workloads.h"
#include "kinds/artifact.h"
#include "server/log_lines.h"
#include "verbs/environments/explain.h"
#include "verbs/environments/files.h"
#include "verbs/environments/inside.h"
#include "verbs/fleet/workload_views.h"
#include "verbs/packages/secrets.h"

namespace fettle {
namespace {

constexpr uint64_t any_number = INT64_MAX;
constexpr size_t most_runs = 20, most_lines = 5'000, most_files = 10'000;
constexpr uint64_t most_file_bytes = 262'144;

/// The number of the version in the path.
Result<uint64_t> version_asked(const RouteCall& call) {
  return call.number("version", 0, any_number);
}

/// The content of the artifact in the path.
Result<ArchiveReader> archive_asked(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const auto artifacts = files_artifacts(TRY(call.place.store->known(environment.name)));
  const auto found = artifacts.find(call.part("artifact"));
  if (found == artifacts.end())
    return user_error(cat("there is no files artifact `", printable(call.part("artifact")),
                          "` in `", environment.name, "`"));
  return ArchiveReader(
      TRY(call.place.blobs->open(read_one<&ArtifactOutputs::digest>(found->second->outputs)))
          .source,
      {.links_may_leave = true});
}

/// The events from a run's first one to the first one of the next run, of the environment.
Result<std::vector<Event>> events_of_run(Store& store, const Name& environment, uint64_t run) {
  constexpr size_t piece = 1'000, most = 100'000;
  std::vector<Event> found;
  for (uint64_t after = run == 0 ? 0 : run - 1; found.size() < most;) {
    std::vector<Event> events = TRY(store.events(environment, after, piece));
    for (Event& event : events) {
      const bool is_next = event.type == EventType::run_started && !found.empty();
      found.push_back(std::move(event));
      if (is_next)
        return found;
    }
    if (events.size() < piece)
      break;
    after = found.back().sequence;
  }
  return found;
}

}  // namespace

Result<Value> tell_environments(const RouteCall& call) {
  std::vector<Value> values;
  for (const Environment& environment : TRY(call.place.store->environments())) {
    const Result<EnvironmentView> view = inspect_environment(call.place, environment.name.str());
    values.push_back(value_of(environment, view ? view->status : "unknown"));
  }
  return Value::list(std::move(values));
}

Result<Value> tell_environment(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const EnvironmentView view = TRY(inspect_environment(call.place, environment.name.str()));
  return document_of(view, TRY(take_inventory(call.place, environment.name)));
}

Result<Value> tell_graph(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const bool is_at_work = TRY(call.place.store->holder(environment.name)).has_value();
  const auto known = std::make_shared<const Known>(TRY(call.place.store->known(environment.name)));
  call.rest = known;
  return document_of(TRY(graph_of(*known, call.parameter("group"), is_at_work)));
}

Result<Value> tell_resource(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const std::string text = call.parameter("key");
  const size_t slash = text.find('/');
  const bool is_at_work = TRY(call.place.store->holder(environment.name)).has_value();
  const Known known = TRY(call.place.store->known(environment.name));
  const auto found = slash == text.npos ? known.end()
                                        : known.find({environment.name, Name(text.substr(0, slash)),
                                                      Name(text.substr(slash + 1))});
  if (found == known.end())
    return user_error(
        cat("there is no resource `", printable(text), "` in `", environment.name, "`"));
  const auto& [key, record] = *found;
  return resource_document(value_of(call.place, key, *record, is_at_work),
                           document_of(environment.name, key, TRY(why(call.place, known, key))));
}

Result<Value> tell_runs(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const EventPage page =
      TRY(search_events(call.place, {.environment = environment.name,
                                     .only_ends = true,
                                     .before = TRY(call.number("before", 0, any_number)),
                                     .most = 2 * most_runs}));
  return runs_document(runs_of(page.events), page.next);
}

Result<Value> tell_run(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const uint64_t number = TRY(call.number("run", 0, any_number));
  const std::vector<RunPast> runs =
      runs_of(TRY(events_of_run(*call.place.store, environment.name, number)));
  if (runs.empty() || runs.front().sequence != number)
    return user_error(cat("there is no run ", number, " of `", environment.name, "`"));
  // A run that died has not ended either. As long as it lives, somebody works, and no other run
  // begins.
  const bool is_at_work = TRY(call.place.store->holder(environment.name)).has_value();
  return run_document(runs.front(), is_at_work && !runs.front().ended && runs.size() == 1);
}

Result<Value> tell_events(const RouteCall& call) {
  EventSearch search;
  search.text = call.parameter("text");
  search.before = TRY(call.number("before", 0, any_number));
  if (const std::string name = call.parameter("environment"); !name.empty())
    search.environment = Name(name);
  const EventPage page = TRY(search_events(call.place, search));
  std::set<Name> environments;
  for (const Event& event : page.events)
    if (environments.insert(event.environment).second)
      TRY(recall_secrets(call.place, event.environment));
  return document_of(page);
}

Result<Value> tell_logs(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const std::string& name = call.part("service");
  const ServiceView service = TRY(service_that_wrote(call.place, environment, name));
  LogOptions options;
  options.tail = static_cast<int>(TRY(call.number("tail", 200, most_lines)));
  options.timestamps = true;
  LogLines lines(service.name);
  TRY(read_logs_of(
      call.place, service, options,
      [&](OutputStream stream, std::string_view bytes) { return lines.take(stream, bytes); },
      call.place.interrupt->acts_token()));
  return log_document(lines.finish());
}

Result<Value> tell_artifact(const RouteCall& call) {
  ArchiveReader reader = TRY(archive_asked(call));
  std::vector<ArchiveEntry> entries;
  while (std::optional<ArchiveEntry> entry = TRY(reader.next())) {
    if (entries.size() == most_files)
      return user_error(cat("the artifact has more than ", most_files,
                            " files: `fettle files inspect` lists them"));
    entries.push_back(*std::move(entry));
  }
  return document_of(entries);
}

Result<Value> tell_artifact_file(const RouteCall& call) {
  ArchiveReader reader = TRY(archive_asked(call));
  const std::string path = call.parameter("path");
  while (const std::optional<ArchiveEntry> entry = TRY(reader.next())) {
    if (entry->path != path || entry->type != ArchiveEntry::Type::file)
      continue;
    if (entry->size > most_file_bytes)
      return user_error(cat("the file has ", entry->size, " bytes, more than ", most_file_bytes,
                            ": `fettle files download` fetches it"));
    std::string content(entry->size, '\0');
    size_t filled = 0;
    while (filled < content.size()) {
      const size_t count = TRY(reader.read(std::span(content).subspan(filled)));
      if (count == 0)
        break;
      filled += count;
    }
    content.resize(filled);
    return document_of(*entry, content);
  }
  return user_error(cat("there is no file `", printable(path), "` in the artifact"));
}

Result<Value> tell_versions(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  return document_of(TRY(call.place.store->versions().heads(environment.name)));
}

Result<Value> tell_version_sets(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const uint64_t version = TRY(version_asked(call));
  return document_of(TRY(list_sets(call.place, environment.name, version)));
}

Result<Value> tell_version_diff(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const uint64_t version = TRY(version_asked(call));
  const uint64_t from = TRY(call.number("from", version == 0 ? 0 : version - 1, any_number));
  return document_of(TRY(diff_versions(call.place, environment.name, from, version)));
}

Result<Value> tell_pending(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const bool is_at_work = TRY(call.place.store->holder(environment.name)).has_value();
  return attempts_document(TRY(call.place.store->known(environment.name)), is_at_work);
}

Result<Value> tell_fleet(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  std::vector<Value> objects;
  for (const workloads::Object& object : TRY(objects_with_status(call.place, environment.name)))
    objects.push_back(shown(call.place, shown_document(object)));
  std::vector<Value> pods;
  for (const Value& pod : TRY(pods_of(call.place, environment.name)))
    pods.push_back(shown(call.place, pod));
  return fleet_document(std::move(objects), std::move(pods),
                        TRY(images_of(call.place, environment.name, false)));
}

Result<ChildCall> ask_session(const RouteCall&) {
  return ChildCall{{}, [](const Value&) -> Result<Value> {
                     return Value::dict({{"name", Value()}, {"right", Value()}});
                   }};
}

Result<ChildCall> ask_nodes(const RouteCall&) {
  // Each node is asked whether it answers, which may take its time.
  return ChildCall{{"node", "ls"}, [](const Value& nodes) -> Result<Value> { return nodes; }};
}

Result<Value> tell_rollout(const RouteCall& call) {
  const Environment environment = TRY(call.environment());
  const RolloutPast past =
      TRY(last_rollout(call.place, environment.name, TRY(call.number("before", 0, any_number))));
  // Nodes are asked for their images only where that matters.
  std::vector<ImageView> images;
  if (!past.pulls.empty())
    images = TRY(images_of(call.place, environment.name, true));
  return document_of(past, images);
}

}  // namespace fettle
