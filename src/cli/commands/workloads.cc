/// Manifests of workloads: stored, brought about, shown, deleted.

#include "verbs/workloads.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "value/mask.h"
#include "value/yaml.h"
#include "verbs/workload_views.h"

namespace fettle {
namespace {

constexpr int gave_up_waiting = 3;

Name fleet_of(const Face& face) {
  return Name(face.parsed.text("enclave", std::string(default_fleet)));
}

struct Source {
  std::string name, text;
};

/// What `-f` names: files, folders of `.yaml`, `.yml` and `.json`, or `-`.
Result<std::vector<Source>> sources_of(const std::vector<std::string>& names) {
  std::vector<Source> sources;
  for (const std::string& name : names) {
    if (name == "-") {
      sources.push_back({"stdin", std::string(std::istreambuf_iterator<char>(std::cin), {})});
      continue;
    }
    std::error_code failure;
    if (!std::filesystem::is_directory(name, failure)) {
      const auto text = read_file(name);
      if (!text)
        return user_error(text.error().message);
      sources.push_back({name, *text});
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
      sources.push_back({path, TRY(read_file(path))});
  }
  return sources;
}

/// All objects of all files, if any are named; every error is told before the first one is the
/// answer.
Result<std::vector<workloads::Object>> objects_asked(const Face& face) {
  const std::vector<std::string>& names = face.parsed.all("filename");
  std::vector<workloads::Object> objects;
  std::optional<Error> first;
  bool is_any_skipped = false;
  for (const Source& source : TRY(sources_of(names))) {
    workloads::Manifests read = workloads::read_manifests(
        source.text, source.name,
        {.space = face.parsed.text("namespace"), .skip_unknown = face.parsed.flag("skip-unknown")});
    for (Error& error : read.errors) {
      if (first)
        print_error(cat("error: ", to_string(*first)));
      first = std::move(error);
    }
    is_any_skipped |= !read.skipped.empty();
    for (const std::string& skipped : read.skipped)
      print_error(cat("skipped ", skipped));
    std::ranges::move(read.objects, std::back_inserter(objects));
  }
  if (first)
    return std::move(*first);
  if (objects.empty() && !is_any_skipped && !names.empty())
    return user_error(cat("there is no object in ", join(names, ", ")));
  return objects;
}

Value stored_value(const StoredObject& stored) {
  return Value::dict({{"object", stored.owner}, {"status", to_string(stored.fate)}});
}

/// Brings the fleet about unless nobody wants to wait, and tells how that ended.
Result<int> finish(Face& face, Workplace& place, const std::vector<StoredObject>& stored) {
  std::vector<Value> values;
  for (const StoredObject& each : stored) {
    values.push_back(stored_value(each));
    if (!face.json && !face.quiet)
      print(cat(each.owner, " ", to_string(each.fate)));
  }
  std::vector<Entry> answer{{"objects", Value::list(std::move(values))}};
  int code = 0;
  if (face.parsed.flag("wait", true)) {
    BringOptions options;
    options.wait_for_others = !face.parsed.flag("no-wait");
    if (const std::string limit = face.parsed.text("timeout"); !limit.empty())
      options.limit = TRY(parse_duration(limit));
    const Brought brought = TRY(bring_workloads(place, fleet_of(face), options));
    answer.push_back({"pods", brought.pods});
    answer.push_back({"ready", brought.ready});
    if (!brought.summary.good())
      code = tell_end(face, brought.summary);
    if (code == 0 && !brought.unsettled.empty())
      code = gave_up_waiting;
    for (const std::string& line : brought.unsettled)
      print_error(line);
    if (!face.json && !face.quiet)
      print(cat(brought.ready, " of ", brought.pods,
                brought.pods == 1 ? " pod is ready" : " pods are ready"));
  }
  if (face.json)
    print_json(Value::dict(std::move(answer)));
  return code;
}

Result<int> apply(Face& face) {
  std::vector<workloads::Object> objects = TRY(objects_asked(face));
  Workplace* place = TRY(face.workplace());
  const auto stored = TRY(store_objects(*place, fleet_of(face), std::move(objects)));
  return finish(face, *place, stored);
}

/// `cloneset`, `CloneSets`, `clone` as kubectl's users write kinds. Error: there is no such kind.
Result<std::string> kind_named(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"cloneset", "CloneSet"},   {"clone", "CloneSet"},   {"statefulset", "StatefulSet"},
      {"sts", "StatefulSet"},     {"asts", "StatefulSet"}, {"daemonset", "DaemonSet"},
      {"daemon", "DaemonSet"},    {"ads", "DaemonSet"},    {"imagepulljob", "ImagePullJob"},
      {"configmap", "ConfigMap"}, {"cm", "ConfigMap"},     {"secret", "Secret"},
      {"service", "Service"},     {"svc", "Service"},      {"namespace", "Namespace"},
      {"ns", "Namespace"},        {"pod", "Pod"},          {"po", "Pod"}};
  std::string low = lower_case(word);
  std::vector<std::string> known;
  for (const bool plural : {false, true}) {
    if (plural && low.ends_with('s'))
      low.pop_back();
    for (const auto& [name, kind] : names)
      if (low == name)
        return std::string(kind);
  }
  for (const auto& [name, kind] : names)
    if (lower_case(kind) == name)
      known.emplace_back(name);
  return user_error(cat("unknown kind `", printable(word), "`", suggestion(low, known),
                        "; known are ", join(known, ", ")));
}

std::string space_of(const Face& face) { return face.parsed.text("namespace", "default"); }

Result<int> remove(Face& face) {
  std::vector<Name> owners;
  if (face.parsed.has("filename")) {
    for (const workloads::Object& object : TRY(objects_asked(face)))
      owners.push_back(object.owner());
  } else {
    if (face.parsed.arguments.size() < 2)
      return user_error(
          "name a kind and an object, or a file by `-f`: `fettle delete cloneset web`");
    const std::string kind = TRY(kind_named(face.parsed.argument(0)));
    for (size_t i = 1; i < face.parsed.arguments.size(); ++i)
      owners.push_back(Name(cat(kind, "/", space_of(face), "/", face.parsed.argument(i))));
  }
  Workplace* place = TRY(face.workplace());
  const auto stored = TRY(delete_objects(*place, fleet_of(face), owners));
  return finish(face, *place, stored);
}

bool has_replicas(std::string_view kind) {
  return kind == "CloneSet" || kind == "StatefulSet" || kind == "DaemonSet";
}

struct Listed {
  std::string kind, space, name;
  Value document;
};

Result<std::vector<Listed>> listed(Face& face, const Workplace& place, const std::string& kind) {
  std::vector<Listed> found;
  if (kind == "Pod")
    for (const Value& pod : TRY(pods_of(place, fleet_of(face))))
      found.push_back({kind, std::string(pod.at("metadata").text_at("namespace")),
                       std::string(pod.at("metadata").text_at("name")), pod});
  const bool has_status = has_replicas(kind) || kind == "ImagePullJob";
  const std::vector<workloads::Object> objects =
      TRY(has_status ? objects_with_status(place, fleet_of(face))
                     : stored_objects(place, fleet_of(face)));
  for (const workloads::Object& object : objects)
    if (object.kind == kind)
      found.push_back({kind, object.space.str(), object.name.str(), object.document});
  const std::string name = face.parsed.argument(1);
  const bool everywhere = face.parsed.flag("all-namespaces");
  std::erase_if(found, [&](const Listed& each) {
    return (!everywhere && each.space != space_of(face)) || (!name.empty() && each.name != name);
  });
  if (found.empty() && !name.empty())
    return user_error(
        cat("there is no ", kind, " `", name, "` in the namespace `", space_of(face), "`"));
  return found;
}

/// The columns of kubectl for pods and workloads; the name for everything else.
std::vector<std::string> row_of(const Listed& each, bool is_wide) {
  const Value& status = each.document.at("status");
  if (has_replicas(each.kind)) {
    const auto count = [&](const char* name) {
      const Value& number = status.at(name);
      return number.is_null() ? std::string("-") : to_text(number);
    };
    return {each.space,
            each.name,
            each.kind == "DaemonSet"
                ? count("replicas")
                : std::to_string(each.document.at("spec").integer_at("replicas", 1)),
            count("updatedReplicas"),
            count("updatedReadyReplicas"),
            count("readyReplicas"),
            count("replicas"),
            std::string(status.text_at("phase"))};
  }
  if (each.kind != "Pod")
    return {each.space, each.name};
  size_t ready = 0, all = 0;
  int64_t restarts = 0;
  if (const Value& rows = status.at("containerStatuses"); rows.is_list())
    for (const Value& row : rows.items()) {
      ++all;
      ready += row.bool_at("ready");
      restarts += row.integer_at("restartCount");
    }
  std::vector<std::string> row{each.space, each.name, cat(ready, "/", all),
                               std::string(status.text_at("phase")), std::to_string(restarts)};
  if (is_wide) {
    row.emplace_back(status.text_at("podIP"));
    row.emplace_back(each.document.at("spec").text_at("nodeName", "<none>"));
  }
  return row;
}

Result<int> get(Face& face) {
  const std::string kind = TRY(kind_named(face.parsed.argument(0)));
  Workplace* place = TRY(face.workplace());
  const std::vector<Listed> found = TRY(listed(face, *place, kind));
  std::vector<Value> documents;
  for (const Listed& each : found)
    documents.push_back(shown(*place, each.document));
  const bool is_one = !face.parsed.argument(1).empty();
  const Value answer =
      is_one ? documents.at(0)
             : Value::dict(
                   {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Value::list(documents)}});
  if (face.json) {
    print_json(answer);
  } else if (face.output == "yaml") {
    print(std::string(trim(write_yaml(answer))));
  } else if (face.output == "name") {
    for (const Listed& each : found)
      print(cat(lower_case(each.kind), "/", each.name));
  } else {
    const bool is_wide = face.output == "wide";
    std::vector<std::vector<std::string>> rows{{"NAMESPACE", "NAME"}};
    if (has_replicas(kind))
      rows[0].insert(rows[0].end(),
                     {"DESIRED", "UPDATED", "UPDATED_READY", "READY", "TOTAL", "PHASE"});
    if (kind == "Pod")
      rows[0].insert(rows[0].end(), {"READY", "STATUS", "RESTARTS"});
    if (kind == "Pod" && is_wide)
      rows[0].insert(rows[0].end(), {"IP", "NODE"});
    for (const Listed& each : found)
      rows.push_back(row_of(each, is_wide));
    print(table(rows));
  }
  return 0;
}

}  // namespace

std::vector<Command> workload_commands() {
  const CommandOption fleet{
      {"-e", "--enclave", "--environment"}, "NAME", "the fleet; else `fleet`"};
  const CommandOption space{{"-n", "--namespace"}, "NAME", "of what names none; else `default`"};
  const CommandOption file{
      {"-f", "--filename"}, "FILE", "a manifest, a folder of them, or `-`; may be repeated", true};
  const CommandOption wait{{"--wait"}, "", "until it has come about; `--wait=false` only stores"},
      limit{{"--timeout"}, "TIME", "gives up when nothing changes for so long; else 10m"};
  const CommandGroup group{"workloads", {fleet, space}};
  Command show =
      group.make("get", "KIND [NAME]", 1, 2, "Shows pods and manifests, as tables or documents.",
                 {"fettle get pods -o wide", "fettle get cloneset web -o yaml"}, get,
                 {{{"-A", "--all-namespaces"}, "", "of all namespaces"}});
  show.outputs = {"yaml", "name", "wide"};
  return {group.make(
              "apply", "", 0, 0,
              "Stores manifests of workloads and brings them about; without any, what is stored.",
              {"fettle apply -f web.yaml", "fettle apply -f manifests -n shop --wait=false"}, apply,
              {file, wait, limit, {{"--skip-unknown"}, "", "leaves out kinds that are not known"}}),
          show,
          group.make("delete", "[KIND NAME…]", 0, 99, "Deletes manifests and all that they made.",
                     {"fettle delete cloneset web", "fettle delete -f web.yaml"}, remove,
                     {file, wait, limit})};
}

}  // namespace fettle
