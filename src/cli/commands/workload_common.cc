#include "cli/commands/workload_common.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/workloads.h"
#include "kinds/pod.h"
#include "verbs/fleet/pod_document.h"
#include "verbs/fleet/store_fleet.h"

namespace fettle {
namespace {

struct Source {
  std::string name, text;
};

/// The files that `-f` names: files, folders of `.yaml`, `.yml` and `.json`, or `-`.
Result<std::vector<Source>> sources_of(const std::vector<std::string>& names) {
  std::vector<Source> sources;
  for (const std::string& name : names) {
    std::error_code failure;
    if (name == "-" || !std::filesystem::is_directory(name, failure)) {
      sources.push_back({shown_file(name), TRY(read_given(name))});
      continue;
    }
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(name, failure))
      if (const auto ending = entry.path().extension();
          ending == ".yaml" || ending == ".yml" || ending == ".json")
        paths.push_back(entry.path().string());
    if (paths.empty())
      return user_error(cat("there is no manifest in `", name, "`"));
    std::ranges::sort(paths);
    for (const std::string& path : paths)
      sources.push_back({path, TRY(read_given(path))});
  }
  return sources;
}

}  // namespace

Name fleet_of(const Face& face) {
  return Name(face.parsed.text("enclave", std::string(default_fleet)));
}

std::string space_of(const Face& face) { return face.parsed.text("namespace", face.default_space); }

Result<std::unique_ptr<ClusterFleet>> cluster_fleet_asked(Face& face) {
  const std::optional<ClusterRequest> request = TRY(cluster_looked_at(face.parsed));
  if (!request)
    return std::unique_ptr<ClusterFleet>();
  const Workplace* const place = TRY(face.workplace());
  const ClusterReach reach = TRY(face.reach_cluster(*request));
  face.default_space = reach.space;
  return std::make_unique<ClusterFleet>(
      *place, reach, face.parsed.flag("all-namespaces") ? std::string() : space_of(face));
}

Result<std::unique_ptr<FleetAccess>> fleet_asked(Face& face) {
  if (auto fleet = TRY(cluster_fleet_asked(face)))
    return std::unique_ptr<FleetAccess>(std::move(fleet));
  return std::unique_ptr<FleetAccess>(
      std::make_unique<StoreFleet>(*TRY(face.workplace()), fleet_of(face)));
}

Result<std::vector<workloads::Object>> objects_asked(const Face& face) {
  const std::vector<std::string>& names = face.parsed.all("filename");
  std::vector<workloads::Object> objects;
  std::map<Name, std::string> read_before;
  std::optional<Error> first;
  std::vector<std::string> texts;
  bool is_any_skipped = false;
  for (const Source& source : TRY(sources_of(names))) {
    workloads::Manifests read =
        workloads::read_manifests(source.text, source.name,
                                  {.space = face.parsed.text("namespace"),
                                   .skip_unknown = face.parsed.flag("skip-unknown"),
                                   .read_before = &read_before,
                                   .otherwise = face.default_space,
                                   .keeps_written = is_about_cluster(face.parsed),
                                   .is_of_cluster = is_about_cluster(face.parsed)});
    for (Error& error : read.errors) {
      if (first)
        print_error(cat("error: ", to_string(*first)));
      texts.push_back(to_string(error));
      first = std::move(error);
    }
    is_any_skipped |= !read.skipped.empty();
    for (const std::string& skipped : read.skipped)
      print_error(cat("skipped ", skipped));
    std::ranges::move(read.objects, std::back_inserter(objects));
  }
  // The reader of a document finds all of them in it.
  if (first && texts.size() > 1 && (face.json || face.json_lines))
    first->message = join(texts, "\n");
  if (first)
    return std::move(*first);
  if (objects.empty() && !is_any_skipped && !names.empty()) {
    std::vector<std::string> shown;
    std::ranges::transform(names, std::back_inserter(shown), shown_file);
    return user_error(cat("there is no object in ", join(shown, ", ")));
  }
  return objects;
}

namespace {

/// The spellings of kinds.
constexpr std::pair<std::string_view, std::string_view> kind_spellings[] = {
    {"cloneset", "CloneSet"},
    {"clone", "CloneSet"},
    {"statefulset", "StatefulSet"},
    {"sts", "StatefulSet"},
    {"asts", "StatefulSet"},
    {"daemonset", "DaemonSet"},
    {"daemon", "DaemonSet"},
    {"ads", "DaemonSet"},
    {"ds", "DaemonSet"},
    {"imagepulljob", "ImagePullJob"},
    {"imagelistpulljob", "ImageListPullJob"},
    {"sidecarset", "SidecarSet"},
    {"configmap", "ConfigMap"},
    {"cm", "ConfigMap"},
    {"secret", "Secret"},
    {"service", "Service"},
    {"svc", "Service"},
    {"namespace", "Namespace"},
    {"ns", "Namespace"},
    {"persistentvolumeclaim", "PersistentVolumeClaim"},
    {"pvc", "PersistentVolumeClaim"},
    {"pod", "Pod"},
    {"po", "Pod"}};

}  // namespace

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const auto& [name, kind] : kind_spellings)
    if (lower_case(kind) == name)
      words.emplace_back(name);
  return words;
}

Result<std::string> kind_named(std::string_view word) {
  std::string low = lower_case(word);
  // kubectl's full forms: `clonesets.apps.kruise.io`, `clonesets.v1beta1.apps.kruise.io`.
  if (low.ends_with(".apps.kruise.io"))
    low.resize(low.find('.'));
  for (const bool plural : {false, true}) {
    if (plural && low.ends_with('s'))
      low.pop_back();
    for (const auto& [name, kind] : kind_spellings)
      if (low == name)
        return std::string(kind);
  }
  const std::vector<std::string> known = kind_words();
  const std::string near = suggestion(low, known);
  return user_error(cat("unknown kind `", printable(word), "`",
                        near.empty() ? cat("; known are ", join(known, ", ")) : near));
}

bool has_namespace(std::string_view kind) { return kind != "SidecarSet" && kind != "Namespace"; }

std::string node_text(std::string_view node) { return node.empty() ? "<this>" : std::string(node); }

std::string owner_text(const Name& owner) { return replace_all(owner, "//", "/"); }

Result<Name> owner_asked(const Face& face, size_t at, size_t& used) {
  const std::string word = face.parsed.argument(at);
  const size_t slash = word.find('/');
  std::string kind = word.substr(0, slash), name;
  if (slash != word.npos) {
    name = word.substr(slash + 1);
    used = 1;
  } else {
    name = face.parsed.argument(at + 1);
    used = 2;
  }
  if (name.empty() || name.find('/') != name.npos)
    return user_error(cat("`", printable(word), "` does not name an object: write `KIND/NAME`"));
  kind = TRY(kind_named(kind));
  return Name(cat(kind, "/", has_namespace(kind) ? space_of(face) : std::string(), "/", name));
}

namespace {

void print_stored(const Face& face, const std::vector<StoredObject>& stored) {
  if (!face.quiet)
    for (const StoredObject& each : stored)
      print(cat(owner_text(each.owner), " ", to_string(each.fate)));
}

}  // namespace

int tell_stored(Face& face, const std::vector<StoredObject>& stored) {
  if (face.json)
    print_json(document_of(stored));
  else
    print_stored(face, stored);
  return 0;
}

namespace {

/// The workloads whose pods an edit of objects is about; none when it may be about any.
Result<std::set<Name>> workloads_of(const Workplace& place, const Name& fleet,
                                    const std::vector<StoredObject>& stored) {
  std::set<Name> owners, pods;
  for (const StoredObject& each : stored) {
    const std::string_view kind = each.owner.view().substr(0, each.owner.view().find('/'));
    if (kind == "CloneSet" || kind == "StatefulSet" || kind == "DaemonSet")
      owners.insert(each.owner);
    else if (kind == "Pod")
      pods.insert(each.owner);
    else
      return std::set<Name>();
  }
  if (!pods.empty())
    for (const auto& [key, record] : TRY(place.store->known(fleet))) {
      const Resource* const pod = key.kind == "pod" ? resource_of_then(*record) : nullptr;
      const NodeAddress address = node_address(key.name);
      if (pod != nullptr && pods.contains(cat("Pod/", address.space, "/", address.name)))
        owners.insert(read_one<&Pod::owner>(pod->attributes).get());
    }
  return owners;
}

Result<int> finish(Face& face, Workplace& place, const std::vector<StoredObject>& stored,
                   std::set<Name> only) {
  if (!face.json)
    print_stored(face, stored);
  std::optional<BringResult> brought;
  int code = 0;
  if (face.parsed.flag("wait", true))
    code = TRY(bring_about(face, place, fleet_of(face), &brought.emplace(), std::move(only)));
  if (face.json)
    print_json(document_of(stored, brought ? &*brought : nullptr, code == 0));
  return code;
}

}  // namespace

Result<int> finish_workloads(Face& face, Workplace& place,
                             const std::vector<StoredObject>& stored) {
  return finish(face, place, stored, {});
}

Result<int> finish_edit(Face& face, Workplace& place, const std::vector<StoredObject>& stored) {
  return finish(face, place, stored, TRY(workloads_of(place, fleet_of(face), stored)));
}

Result<int> bring_about(Face& face, Workplace& place, const Name& fleet, BringResult* told,
                        std::set<Name> only) {
  BringOptions options;
  options.only = std::move(only);
  options.wait_for_others = !face.parsed.flag("no-lease-wait");
  if (const std::string limit = face.parsed.text("timeout"); !limit.empty())
    options.limit = TRY(parse_duration(limit));
  const BringResult brought = TRY(bring_workloads(place, fleet, options));
  if (told != nullptr)
    *told = brought;
  int code = brought.summary.good() ? 0 : tell_end(face, brought.summary);
  if (code == 0 && !brought.unsettled.empty())
    code = gave_up_waiting;
  if (code == gave_up_waiting && brought.is_refused)
    code = failed_code;
  // Failures have been reported already.
  for (const std::string& line : brought.unsettled)
    if (std::ranges::none_of(brought.summary.failures, [&](const Failure& failure) {
          return line.ends_with(failure.error.message);
        }))
      print_error(line);
  if (!face.json && !face.quiet)
    for (const std::string& line : brought.held)
      print(line);
  if (!face.json && !face.quiet)
    print(brought.pods == 0 ? std::string("there are no pods")
                            : cat(brought.ready, " of ", brought.pods,
                                  brought.pods == 1 ? " pod is ready" : " pods are ready"));
  return code;
}

const std::vector<CommandOption>& workload_options() {
  static const std::vector<CommandOption> options{
      {{"-e", "--enclave", "--environment"}, "NAME", "the fleet (default: fleet)"},
      {{"-n", "--namespace"}, "NAME", "for objects without a namespace (default: default)"}};
  return options;
}

std::vector<CommandOption> look_options() {
  std::vector<CommandOption> options = workload_options();
  const std::vector<CommandOption>& more = cluster_look_options();
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const std::vector<CommandOption>& wait_options() {
  static const std::vector<CommandOption> options{
      {{"--wait"}, "", "wait until it is done; `--wait=false` only stores"},
      {{"--timeout"}, "TIME", "give up when nothing changes for this long (10m)"}};
  return options;
}

CommandOption gates_option() {
  return {{"--feature-gates"}, "NAME=BOOL,…", "gates of the fleet; the fleet remembers them"};
}

CommandOption file_option() {
  return {
      {"-f", "--filename"}, "FILE", "a manifest, a folder of them, or `-`; may be repeated", true};
}

}  // namespace fettle
