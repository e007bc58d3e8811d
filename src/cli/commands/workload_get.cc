/// `get`: pods and manifests in the columns and documents of kubectl.

#include <algorithm>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "value/mask.h"
#include "value/yaml.h"
#include "verbs/claims.h"
#include "verbs/pod_document.h"
#include "verbs/workload_views.h"

namespace fettle {
namespace {

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
  if (kind == "PersistentVolumeClaim")
    for (const Value& claim : TRY(claims_of(place, fleet_of(face))))
      found.push_back({kind, std::string(claim.at("metadata").text_at("namespace")),
                       std::string(claim.at("metadata").text_at("name")), claim});
  const bool has_status = has_replicas(kind) || kind == "ImagePullJob" || kind == "SidecarSet";
  const std::vector<workloads::Object> objects =
      TRY(has_status ? objects_with_status(place, fleet_of(face))
                     : stored_objects(place, fleet_of(face)));
  for (const workloads::Object& object : objects)
    if (object.kind == kind && kind != "Pod")  // of a pod it is only what was said about it
      found.push_back({kind, object.space.str(), object.name.str(), shown_document(object)});
  const LabelFilter is_selected = TRY(label_filter(face.parsed.text("selector")));
  const std::string name = face.parsed.argument(1);
  const bool everywhere = face.parsed.flag("all-namespaces");
  std::erase_if(found, [&](const Listed& each) {
    return (!everywhere && has_namespace(kind) && each.space != space_of(face)) ||
           (!name.empty() && each.name != name) ||
           !is_selected(each.document.at("metadata").at("labels"));
  });
  if (found.empty() && !name.empty())
    return user_error(
        cat("there is no ", kind, " `", name, "`",
            has_namespace(kind) ? cat(" in the namespace `", space_of(face), "`") : std::string()));
  return found;
}

/// As kubectl writes how long ago something was: two units while the first one is small.
std::string age_text(Duration age) {
  using std::chrono::duration_cast;
  const int64_t seconds = std::max<int64_t>(0, duration_cast<std::chrono::seconds>(age).count());
  const int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  const auto with_rest = [](int64_t count, std::string_view unit, int64_t rest,
                            std::string_view rest_unit) {
    return rest == 0 ? cat(count, unit) : cat(count, unit, rest, rest_unit);
  };
  if (seconds < 2 * 60)
    return cat(seconds, "s");
  if (minutes < 10)
    return with_rest(minutes, "m", seconds % 60, "s");
  if (hours < 3)
    return cat(minutes, "m");
  if (hours < 8)
    return with_rest(hours, "h", minutes % 60, "m");
  if (hours < 48)
    return cat(hours, "h");
  if (days < 8)
    return with_rest(days, "d", hours % 24, "h");
  return days < 2 * 365 ? cat(days, "d") : with_rest(days / 365, "y", days % 365, "d");
}

/// The columns of kubectl, and how the rollout stands.
class Table {
 public:
  Table(const Face& face, Time now)
      : now_(now),
        is_wide_(face.output == "wide"),
        has_spaces_(face.parsed.flag("all-namespaces")),
        has_headers_(!face.parsed.flag("no-headers")) {}

  std::string of(const std::string& kind, const std::vector<Listed>& found) const {
    std::vector<std::vector<std::string>> rows;
    if (has_headers_)
      rows.push_back(headers(kind));
    for (const Listed& each : found)
      if (each.kind == kind)
        rows.push_back(row_of(each));
    return rows.empty() ? std::string() : table(rows);
  }

 private:
  std::vector<std::string> headers(std::string_view kind) const {
    std::vector<std::string> row{"NAME"};
    const auto add = [&](std::initializer_list<const char*> more) {
      row.insert(row.end(), more.begin(), more.end());
    };
    if (has_spaces_ && has_namespace(kind))
      row.insert(row.begin(), "NAMESPACE");
    if (kind == "SidecarSet")
      add({"MATCHED", "UPDATED", "READY", "AGE", "PHASE"});
    else if (kind == "ImagePullJob")
      add({"TOTAL", "ACTIVE", "SUCCEED", "FAILED", "AGE", "MESSAGE"});
    else if (has_replicas(kind))
      add({"DESIRED", "UPDATED", "UPDATED_READY", "READY", "TOTAL", "AGE", "PHASE"});
    else if (kind == "Pod")
      add({"READY", "STATUS", "RESTARTS", "AGE"});
    else if (kind == "PersistentVolumeClaim")
      add({"STATUS", "VOLUME", "NODE", "OWNER"});
    else
      add({"AGE"});
    if (is_wide_ && has_replicas(kind))
      add({"CONTAINERS", "IMAGES", "SELECTOR"});
    if (is_wide_ && kind == "Pod")
      add({"IP", "NODE"});
    return row;
  }

  std::vector<std::string> row_of(const Listed& each) const {
    const Value& status = each.document.at("status");
    const auto count = [&](const char* name) {
      const Value& number = status.at(name);
      return number.is_null() ? std::string("-") : to_text(number);
    };
    std::vector<std::string> row{each.name};
    if (has_spaces_ && has_namespace(each.kind))
      row.insert(row.begin(), each.space);
    const auto add = [&](std::vector<std::string> more) {
      row.insert(row.end(), more.begin(), more.end());
    };
    const std::string age = age_of(each.document), phase(status.text_at("phase"));
    if (each.kind == "SidecarSet")
      add({count("matchedPods"), count("updatedPods"), count("readyPods"), age, phase});
    else if (each.kind == "ImagePullJob")
      add({count("desired"), count("active"), count("succeeded"), count("failed"), age,
           std::string(status.text_at("message"))});
    else if (has_replicas(each.kind))
      add({each.kind == "DaemonSet"
               ? count("replicas")
               : std::to_string(each.document.at("spec").integer_at("replicas", 1)),
           count("updatedReplicas"), count("updatedReadyReplicas"), count("readyReplicas"),
           count("replicas"), age, phase});
    else if (each.kind == "PersistentVolumeClaim")
      add({phase, std::string(status.text_at("volume")), std::string(status.text_at("node")),
           std::string(status.text_at("owner"))});
    else if (each.kind == "Pod")
      add_pod(each.document, age, row);
    else
      add({age});
    if (is_wide_ && has_replicas(each.kind))
      add_containers(each.document, row);
    return row;
  }

  void add_pod(const Value& document, const std::string& age, std::vector<std::string>& row) const {
    const PodRowText text = pod_row_text(document);
    row.push_back(text.ready);
    row.push_back(text.status);
    row.push_back(std::to_string(text.restarts));
    row.push_back(age);
    if (is_wide_) {
      row.emplace_back(document.at("status").text_at("podIP", "<none>"));
      row.emplace_back(document.at("spec").text_at("nodeName", "<none>"));
    }
  }

  static void add_containers(const Value& document, std::vector<std::string>& row) {
    std::vector<std::string> names, images;
    const Value& containers = document.at("spec").at("template").at("spec").at("containers");
    for (const Value& container : containers.items()) {
      names.emplace_back(container.text_at("name"));
      images.emplace_back(container.text_at("image"));
    }
    row.push_back(join(names, ","));
    row.push_back(join(images, ","));
    row.emplace_back(document.at("status").text_at("labelSelector"));
  }

  std::string age_of(const Value& document) const {
    const auto age = age_of_object(document, now_);
    return age ? age_text(*age) : std::string("<unknown>");
  }

  Time now_;
  bool is_wide_, has_spaces_, has_headers_;
};

/// Kinds may be joined by commas.
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
    const Table table(face, place->clock());
    std::string text;
    for (const std::string& kind : kinds)
      text += cat(text.empty() ? "" : "\n\n", table.of(kind, found));
    if (!text.empty())
      print(text);
  }
  return 0;
}

}  // namespace

Command workload_get_command() {
  Command command = CommandGroup{"workloads", workload_options()}.make(
      "get", "KIND[,…] [NAME]", 1, 2, "Shows pods and manifests, as tables or documents.",
      {"fettle get pods -o wide", "fettle get clonesets,pods -l app=web",
       "fettle get cloneset web -o yaml"},
      get,
      {{{"-A", "--all-namespaces"}, "", "objects of all namespaces"},
       {{"-l", "--selector"}, "LABELS", "those with these labels: `app=web,tier in (a,b),!old`"},
       {{"--no-headers"}, "", "only the rows of a table"}});
  command.outputs = {"yaml", "name", "wide"};
  return command;
}

}  // namespace fettle
