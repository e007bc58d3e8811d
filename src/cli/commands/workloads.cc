/// Manifests of workloads: stored, brought about, shown, deleted.

#include "verbs/workloads.h"

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
  if (!owners.empty())
    stored = TRY(delete_objects(*place, fleet_of(face), owners));
  if (!pods.empty())
    for (StoredObject& pod : TRY(replace_pods(*place, fleet_of(face), pods)))
      stored.push_back(std::move(pod));
  return finish_workloads(face, *place, stored);
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
    print_json_of_original(answer);
  } else if (face.output == "yaml") {
    print(std::string(trim(write_yaml(answer))));
  } else if (face.output == "name") {
    for (const Listed& each : found)
      print(cat(lower_case(each.kind), "/", each.name));
  } else {
    const bool is_wide = face.output == "wide";
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
      rows.push_back(row_of(each, is_wide));
    print(table(rows));
  }
  return 0;
}

}  // namespace

std::vector<Command> workload_commands() {
  const CommandGroup group{"workloads", workload_options()};
  const CommandOption file = file_option(), wait = wait_options()[0], limit = wait_options()[1];
  Command show =
      group.make("get", "KIND [NAME]", 1, 2, "Shows pods and manifests, as tables or documents.",
                 {"fettle get pods -o wide", "fettle get cloneset web -o yaml"}, get,
                 {{{"-A", "--all-namespaces"}, "", "objects of all namespaces"}});
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
                 {"fettle delete cloneset web", "fettle delete -f web.yaml"}, remove,
                 {file, wait, limit}),
      controller_command(),
      workload_plan_command(),
      workload_describe_command()};
  for (const std::vector<Command>& more : {rollout_commands(), pod_commands()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace fettle
