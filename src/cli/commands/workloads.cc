/// Manifests of workloads: stored, brought about, shown, deleted.

#include "verbs/workloads.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "value/mask.h"
#include "value/yaml.h"
#include "verbs/workload_edits.h"
#include "verbs/workload_views.h"

namespace fettle {
namespace {

Result<int> apply(Face& face) {
  std::vector<workloads::Object> objects = TRY(objects_asked(face));
  Workplace* place = TRY(face.workplace());
  if (const std::string gates = face.parsed.text("feature-gates"); !gates.empty())
    TRY(put_gates(*place, fleet_of(face), gates));
  const auto stored = TRY(store_objects(*place, fleet_of(face), std::move(objects)));
  return finish_workloads(face, *place, stored);
}

/// Takes those out of `owners` that are not stored, and tells of them unless nobody minds. When
/// there is nothing else to do, the first one stays, and is the error.
Result<std::vector<Name>> take_missing(const Face& face, const Workplace& place,
                                       std::vector<Name>& owners, bool has_others) {
  std::set<Name> known;
  for (const workloads::Object& object : TRY(stored_objects(place, fleet_of(face))))
    known.insert(object.owner());
  std::vector<Name> missing, there;
  for (const Name& owner : owners)
    (known.contains(owner) ? there : missing).push_back(owner);
  const bool is_fine = face.parsed.flag("ignore-not-found");
  if (there.empty() && !has_others && !is_fine)
    return std::vector<Name>();
  owners = std::move(there);
  if (is_fine)
    return std::vector<Name>();
  for (const Name& owner : missing)
    print_error(cat("there is no `", owner_text(owner), "`"));
  return missing;
}

Result<int> remove(Face& face) {
  std::vector<Name> owners;
  if (face.parsed.has("filename")) {
    for (const workloads::Object& object : TRY(objects_asked(face)))
      owners.push_back(object.owner());
  } else {
    if (face.parsed.arguments.empty())
      return user_error(
          "name a kind and an object, or a file with `-f`: `fettle delete cloneset web`");
    size_t used = 0;
    owners.push_back(TRY(owner_asked(face, 0, used)));
    const std::string kind(owners[0].view().substr(0, owners[0].view().find('/')));
    for (size_t i = used; i < face.parsed.arguments.size(); ++i)
      owners.push_back(used == 1
                           ? TRY(owner_asked(face, i, used))
                           : Name(cat(kind, "/", space_of(face), "/", face.parsed.argument(i))));
  }
  Workplace* place = TRY(face.workplace());
  // A pod goes by its owner, which makes another one.
  std::vector<Name> pods;
  std::erase_if(owners, [&](const Name& owner) {
    const bool is_pod = owner.view().starts_with("Pod/");
    if (is_pod)
      pods.push_back(owner);
    return is_pod;
  });
  std::vector<StoredObject> stored;
  const std::vector<Name> missing = TRY(take_missing(face, *place, owners, !pods.empty()));
  if (!owners.empty())
    stored = TRY(delete_objects(*place, fleet_of(face), owners));
  if (!pods.empty())
    for (StoredObject& pod : TRY(replace_pods(*place, fleet_of(face), pods)))
      stored.push_back(std::move(pod));
  if (stored.empty() && face.parsed.flag("ignore-not-found") && !face.json)
    return 0;
  const int code = TRY(finish_workloads(face, *place, stored));
  return missing.empty() ? code : std::max(code, 1);
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
  const bool has_status = has_replicas(kind) || kind == "ImagePullJob" || kind == "SidecarSet";
  const std::vector<workloads::Object> objects =
      TRY(has_status ? objects_with_status(place, fleet_of(face))
                     : stored_objects(place, fleet_of(face)));
  for (const workloads::Object& object : objects)
    if (object.kind == kind && kind != "Pod")  // of a pod it is only what was said about it
      found.push_back({kind, object.space.str(), object.name.str(), object.document});
  const std::string name = face.parsed.argument(1);
  const bool everywhere = face.parsed.flag("all-namespaces");
  std::erase_if(found, [&](const Listed& each) {
    return (!everywhere && has_namespace(kind) && each.space != space_of(face)) ||
           (!name.empty() && each.name != name);
  });
  if (found.empty() && !name.empty())
    return user_error(
        cat("there is no ", kind, " `", name, "`",
            has_namespace(kind) ? cat(" in the namespace `", space_of(face), "`") : std::string()));
  return found;
}

/// The columns of kubectl for pods and workloads; the name for everything else.
std::vector<std::string> row_of(const Listed& each, bool is_wide) {
  const Value& status = each.document.at("status");
  const auto count = [&](const char* name) {
    const Value& number = status.at(name);
    return number.is_null() ? std::string("-") : to_text(number);
  };
  if (each.kind == "SidecarSet")
    return {each.name, count("matchedPods"), count("updatedPods"), count("readyPods"),
            std::string(status.text_at("phase"))};
  if (each.kind == "ImagePullJob")
    return {each.space,
            each.name,
            count("desired"),
            count("active"),
            count("succeeded"),
            count("failed"),
            std::string(status.text_at("phase"))};
  if (has_replicas(each.kind)) {
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

/// A table of one kind.
std::string table_of(const std::string& kind, const std::vector<Listed>& found, bool is_wide) {
  std::vector<std::vector<std::string>> rows{{"NAMESPACE", "NAME"}};
  if (kind == "SidecarSet")
    rows[0] = {"NAME", "MATCHED", "UPDATED", "READY", "PHASE"};
  if (kind == "ImagePullJob")
    rows[0].insert(rows[0].end(), {"TOTAL", "ACTIVE", "SUCCEED", "FAILED", "PHASE"});
  if (has_replicas(kind))
    rows[0].insert(rows[0].end(),
                   {"DESIRED", "UPDATED", "UPDATED_READY", "READY", "TOTAL", "PHASE"});
  if (kind == "Pod")
    rows[0].insert(rows[0].end(), {"READY", "STATUS", "RESTARTS"});
  if (kind == "Pod" && is_wide)
    rows[0].insert(rows[0].end(), {"IP", "NODE"});
  for (const Listed& each : found)
    if (each.kind == kind)
      rows.push_back(row_of(each, is_wide));
  return table(rows);
}

/// Kinds may be joined by commas, as in kubectl.
Result<int> get(Face& face) {
  const std::string words = face.parsed.argument(0);
  std::vector<std::string> kinds;
  for (const std::string_view word : split(words, ',')) {
    const Result<std::string> kind = kind_named(word);
    if (!kind)
      return kind.error();
    if (std::ranges::find(kinds, *kind) == kinds.end())
      kinds.push_back(*kind);
  }
  if (kinds.size() > 1 && !face.parsed.argument(1).empty())
    return user_error("a name goes with one kind: `fettle get cloneset web`");
  Workplace* place = TRY(face.workplace());
  std::vector<Listed> found;
  for (const std::string& kind : kinds) {
    std::vector<Listed> some = TRY(listed(face, *place, kind));
    found.insert(found.end(), some.begin(), some.end());
  }
  std::vector<Value> documents;
  for (const Listed& each : found)
    documents.push_back(shown(*place, each.document));
  const bool is_one = !face.parsed.argument(1).empty();
  const Value answer =
      is_one ? documents.at(0)
             : Value::dict(
                   {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Value::list(documents)}});
  if (face.json) {
    print_json_of_original(answer);
  } else if (face.output == "yaml") {
    print(std::string(trim(write_yaml(answer))));
  } else if (face.output == "name") {
    for (const Listed& each : found)
      print(cat(lower_case(each.kind), "/", each.name));
  } else {
    std::string text;
    for (const std::string& kind : kinds)
      text += cat(text.empty() ? "" : "\n\n", table_of(kind, found, face.output == "wide"));
    print(text);
  }
  return 0;
}

}  // namespace

std::vector<Command> workload_commands() {
  const CommandGroup group{"workloads", workload_options()};
  const CommandOption file = file_option(), wait = wait_options()[0], limit = wait_options()[1];
  Command show = group.make(
      "get", "KIND[,…] [NAME]", 1, 2, "Shows pods and manifests, as tables or documents.",
      {"fettle get pods -o wide", "fettle get clonesets,pods", "fettle get cloneset web -o yaml"},
      get, {{{"-A", "--all-namespaces"}, "", "objects of all namespaces"}});
  show.outputs = {"yaml", "name", "wide"};
  std::vector<Command> all{
      group.make(
          "apply", "", 0, 0,
          "Stores manifests of workloads and carries them out; without a file, those that are "
          "stored.",
          {"fettle apply -f web.yaml", "fettle apply -f manifests -n shop --wait=false"}, apply,
          {file, wait, limit, gates_option(), {{"--skip-unknown"}, "", "skip unknown kinds"}}),
      show,
      group.make("delete", "[KIND NAME…]", 0, 99, "Deletes manifests and everything they created.",
                 {"fettle delete cloneset web", "fettle delete -f web.yaml --ignore-not-found"},
                 remove,
                 {file, wait, limit, {{"--ignore-not-found"}, "", "what is gone is no error"}}),
      controller_command(),
      workload_plan_command(),
      workload_describe_command()};
  for (const std::vector<Command>& more : {rollout_commands(), pod_commands()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace fettle
