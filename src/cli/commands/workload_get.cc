/// `get`: pods and manifests in the columns and documents of kubectl.

#include <algorithm>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/commands/workload_fields.h"
#include "cli/formats.h"
#include "cli/print.h"
#include "documents/workloads.h"
#include "value/mask.h"
#include "verbs/fleet/pod_document.h"
#include "verbs/fleet/workload_views.h"

namespace fettle {
namespace {

bool has_replicas(std::string_view kind) {
  return kind == "CloneSet" || kind == "StatefulSet" || kind == "DaemonSet";
}

struct ListedObject {
  std::string kind, space, name;
  Value document;
};

/// The objects that are asked for, by kind. Without names, all of them.
struct ObjectQuery {
  std::string kind;
  std::vector<std::string> names{};
  bool is_of_all = false;  ///< the kind is one of `all`
};

/// The kinds of kubectl's `all` that exist here, in its order.
constexpr std::string_view all_kinds[] = {"Pod",          "Service",         "CloneSet",
                                          "StatefulSet",  "DaemonSet",       "SidecarSet",
                                          "ImagePullJob", "ImageListPullJob"};

bool is_job_kind(std::string_view kind) {
  return kind == "ImagePullJob" || kind == "ImageListPullJob";
}

Result<std::vector<std::string>> kinds_named(std::string_view words) {
  std::vector<std::string> kinds;
  const auto add = [&](std::string kind) {
    if (std::ranges::find(kinds, kind) == kinds.end())
      kinds.push_back(std::move(kind));
  };
  for (const std::string_view word : split(words, ',')) {
    if (lower_case(word) != "all")
      add(TRY(kind_named(word)));
    else
      for (const std::string_view kind : all_kinds)
        add(std::string(kind));
  }
  return kinds;
}

/// `KIND[,…] NAME…` or `KIND/NAME…`.
Result<std::vector<ObjectQuery>> asked_of(const Face& face) {
  const std::vector<std::string>& words = face.parsed.arguments;
  std::vector<ObjectQuery> all;
  if (words[0].find('/') == std::string::npos) {
    const std::string low = lower_case(words[0]);
    const bool is_of_all = std::ranges::count(split(low, ','), "all") > 0;
    for (std::string& kind : TRY(kinds_named(words[0])))
      all.push_back({std::move(kind), {words.begin() + 1, words.end()}, is_of_all});
    return all;
  }
  for (const std::string& word : words) {
    const size_t slash = word.find('/');
    const std::string name = slash == word.npos ? std::string() : word.substr(slash + 1);
    if (name.empty() || name.find('/') != name.npos)
      return user_error(cat("`", printable(word), "` does not name an object: write `KIND/NAME`"));
    const std::string kind = TRY(kind_named(std::string_view(word).substr(0, slash)));
    const auto same = std::ranges::find(all, kind, &ObjectQuery::kind);
    (same == all.end() ? *all.insert(same, {.kind = kind}) : *same).names.push_back(name);
  }
  return all;
}

/// A cluster need not have all kinds of kubectl's `all`.
Result<std::vector<ListedObject>> all_of_kind(FleetAccess& fleet, const ObjectQuery& asked,
                                              const std::string& space) {
  std::vector<ListedObject> found;
  const auto documents = fleet.documents(asked.kind, space);
  if (!documents && !(asked.is_of_all && documents.error().blame == Blame::user))
    return documents.error();
  for (const Value& document : documents ? *documents : std::vector<Value>()) {
    const Value& metadata = document.at("metadata");
    found.push_back({asked.kind, std::string(metadata.text_at("namespace")),
                     std::string(metadata.text_at("name")), document});
  }
  return found;
}

Result<std::vector<ListedObject>> listed(const Face& face, FleetAccess& fleet,
                                         const ObjectQuery& asked) {
  const bool everywhere = face.parsed.flag("all-namespaces");
  const bool is_spaced = has_namespace(asked.kind);
  std::vector<ListedObject> found =
      TRY(all_of_kind(fleet, asked, everywhere ? std::string() : space_of(face)));
  const LabelFilter is_selected = TRY(label_filter(face.parsed.text("selector")));
  const FieldFilter has_fields = TRY(field_filter(face.parsed.text("field-selector"), asked.kind));
  std::erase_if(found, [&](const ListedObject& each) {
    return (!everywhere && is_spaced && each.space != space_of(face)) ||
           (!asked.names.empty() &&
            std::ranges::find(asked.names, each.name) == asked.names.end()) ||
           !is_selected(each.document.at("metadata").at("labels")) || !has_fields(each.document);
  });
  for (const std::string& name : asked.names)
    if (std::ranges::find(found, name, &ListedObject::name) == found.end())
      return user_error(
          cat("there is no ", asked.kind, " `", printable(name), "`",
              is_spaced ? cat(" in the namespace `", space_of(face), "`") : std::string()));
  return found;
}

/// The age in kubectl's form: with two units while the first one is small.
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

/// The name in kubectl's form: `cloneset.apps.kruise.io/web`, `pod/web-1`.
std::string name_of(const ListedObject& each) {
  const bool is_of_kruise =
      has_replicas(each.kind) || each.kind == "SidecarSet" || is_job_kind(each.kind);
  return cat(lower_case(each.kind), is_of_kruise ? ".apps.kruise.io" : "", "/", each.name);
}

/// The columns behind the name: kubectl's, as the newest definitions of OpenKruise name them; with
/// `-o wide` its wide ones, followed by ours.
struct Columns {
  std::string_view kind, names, wide;
};
constexpr Columns columns_of_kinds[] = {
    {"CloneSet", "DESIRED|UPDATED|UPDATED_READY|UPDATED_AVAILABLE|READY|TOTAL|AGE",
     "CONTAINERS|IMAGES|SELECTOR|PHASE"},
    {"StatefulSet", "DESIRED|CURRENT|UPDATED|READY|AGE", "CONTAINERS|IMAGES|PHASE"},
    {"DaemonSet", "DESIRED|CURRENT|READY|UP-TO-DATE|AVAILABLE|AGE", "CONTAINERS|IMAGES|PHASE"},
    {"SidecarSet", "MATCHED|UPDATED|READY|AGE", "PHASE"},
    {"ImagePullJob", "TOTAL|ACTIVE|SUCCEED|FAILED|AGE", "MESSAGE"},
    {"ImageListPullJob", "TOTAL|SUCCEEDED|COMPLETED|AGE", "PHASE"},
    {"Pod", "READY|STATUS|RESTARTS|AGE", "IP|NODE"},
    {"PersistentVolumeClaim", "STATUS|VOLUME|CAPACITY|ACCESS MODES|STORAGECLASS|AGE", "NODE|OWNER"},
    {"Service", "TYPE|CLUSTER-IP|EXTERNAL-IP|PORT(S)|AGE", ""},
    {"ConfigMap", "DATA|AGE", ""},
    {"Secret", "TYPE|DATA|AGE", ""},
    {"Namespace", "STATUS|AGE", ""}};

class Table {
 public:
  /// `names_kinds`: rows begin with `cloneset/`, for tables of several kinds.
  Table(const Face& face, Time now, bool names_kinds)
      : now_(now),
        names_kinds_(names_kinds),
        is_wide_(face.output == "wide"),
        has_spaces_(face.parsed.flag("all-namespaces")),
        is_of_cluster_(is_about_cluster(face.parsed)),
        has_headers_(!face.parsed.flag("no-headers")),
        shows_labels_(face.parsed.flag("show-labels")) {
    for (const std::string& given : face.parsed.all("label-columns"))
      for (const std::string_view label : split(given, ','))
        labels_.emplace_back(label);
  }

  /// Empty when there are none.
  std::string of(const std::string& kind, const std::vector<ListedObject>& found) const {
    std::vector<std::vector<std::string>> rows;
    for (const ListedObject& each : found)
      if (each.kind == kind)
        rows.push_back(row_of(each));
    if (rows.empty())
      return {};
    if (has_headers_)
      rows.insert(rows.begin(), headers(kind));
    return table(rows);
  }

 private:
  std::vector<std::string> headers(std::string_view kind) const {
    std::vector<std::string> row{"NAME"};
    if (has_spaces_ && has_namespace(kind))
      row.insert(row.begin(), "NAMESPACE");
    const auto columns = std::ranges::find(columns_of_kinds, kind, &Columns::kind);
    for (const std::string_view column : split(columns->names, '|'))
      row.emplace_back(column);
    for (const std::string_view column : split(is_wide_ ? columns->wide : "", '|'))
      if (!column.empty())
        row.emplace_back(column);
    for (const std::string& label : labels_)
      row.push_back(upper_case(std::string_view(label).substr(label.rfind('/') + 1)));
    if (shows_labels_)
      row.emplace_back("LABELS");
    return row;
  }

  std::vector<std::string> row_of(const ListedObject& each) const {
    const Value& status = each.document.at("status");
    const auto count = [&](const char* name) {
      const Value& number = status.at(name);
      return number.is_null() ? std::string("-") : to_text(number);
    };
    std::vector<std::string> row{names_kinds_ ? name_of(each) : each.name};
    if (has_spaces_ && has_namespace(each.kind))
      row.insert(row.begin(), each.space);
    const auto add = [&](std::vector<std::string> more) {
      row.insert(row.end(), more.begin(), more.end());
    };
    const std::string age = age_of(each.document);
    const std::string desired = std::to_string(each.document.at("spec").integer_at("replicas", 1));
    if (each.kind == "SidecarSet")
      add({count("matchedPods"), count("updatedPods"), count("readyPods"), age});
    else if (each.kind == "ImagePullJob")
      add({count("desired"), count("active"), count("succeeded"), count("failed"), age});
    else if (each.kind == "ImageListPullJob")
      add({count("desired"), count("succeeded"), count("completed"), age});
    else if (each.kind == "CloneSet")
      add({desired, count("updatedReplicas"), count("updatedReadyReplicas"),
           count("updatedAvailableReplicas"), count("readyReplicas"), count("replicas"), age});
    else if (each.kind == "StatefulSet")
      add({desired, count("replicas"), count("updatedReplicas"), count("readyReplicas"), age});
    else if (each.kind == "DaemonSet")
      add({count("desiredNumberScheduled"), count("currentNumberScheduled"), count("numberReady"),
           count("updatedNumberScheduled"), count("numberAvailable"), age});
    else if (each.kind == "PersistentVolumeClaim")
      add_claim(each.document, age, row);
    else if (each.kind == "Service")
      add({std::string(each.document.at("spec").text_at("type", "ClusterIP")), "<none>", "<none>",
           ports_text(each.document.at("spec").at("ports")), age});
    else if (each.kind == "ConfigMap" || each.kind == "Secret")
      add_data(each, age, row);
    else if (each.kind == "Namespace")
      add({"Active", age});
    else if (each.kind == "Pod")
      add_pod(each.document, age, row);
    else
      add({age});
    if (is_wide_)
      add_wide(each, row);
    const Value& labels = each.document.at("metadata").at("labels");
    for (const std::string& label : labels_)
      row.emplace_back(labels.is_dict() ? labels.text_at(label) : std::string_view());
    if (shows_labels_)
      row.push_back(labels_text(labels));
    return row;
  }

  static void add_wide(const ListedObject& each, std::vector<std::string>& row) {
    const Value& status = each.document.at("status");
    if (has_replicas(each.kind))
      add_containers(each.document, row);
    if (each.kind == "CloneSet")
      row.emplace_back(status.text_at("labelSelector"));
    if (has_replicas(each.kind) || each.kind == "SidecarSet" || each.kind == "ImageListPullJob")
      row.emplace_back(status.text_at("phase"));
    if (each.kind == "ImagePullJob")
      row.emplace_back(status.text_at("message"));
  }

  static void add_data(const ListedObject& each, const std::string& age,
                       std::vector<std::string>& row) {
    if (each.kind == "Secret")
      row.emplace_back(each.document.text_at("type", "Opaque"));
    size_t count = 0;
    for (const char* part : {"data", "binaryData"})
      if (const Value& data = each.document.at(part); data.is_dict())
        count += data.entries().size();
    row.push_back(std::to_string(count));
    row.push_back(age);
  }

  static std::string ports_text(const Value& ports) {
    std::vector<std::string> texts;
    if (ports.is_list())
      for (const Value& port : ports.items())
        texts.push_back(cat(to_text(port.at("port")), "/", port.text_at("protocol", "TCP")));
    return texts.empty() ? "<none>" : join(texts, ",");
  }

  /// Sizes and classes are what the template says: volumes of engines have none.
  void add_claim(const Value& document, const std::string& age,
                 std::vector<std::string>& row) const {
    const Value &spec = document.at("spec"), &status = document.at("status");
    const Value& size = spec.at("resources").at("requests").at("storage");
    std::vector<std::string> modes;
    if (const Value& all = spec.at("accessModes"); all.is_list())
      for (const Value& mode : all.items())
        modes.emplace_back(mode == Value("ReadWriteOnce")      ? "RWO"
                           : mode == Value("ReadOnlyMany")     ? "ROX"
                           : mode == Value("ReadWriteMany")    ? "RWX"
                           : mode == Value("ReadWriteOncePod") ? "RWOP"
                                                               : to_text(mode));
    row.insert(row.end(), {std::string(status.text_at("phase")),
                           std::string(spec.text_at("volumeName", status.text_at("volume"))),
                           size.is_null() ? "" : to_text(size), join(modes, ","),
                           std::string(spec.text_at("storageClassName")), age});
    if (is_wide_)
      row.insert(row.end(),
                 {node_called(status.text_at("node")), std::string(status.text_at("owner"))});
  }

  /// In a cluster, what names no node is on none.
  std::string node_called(std::string_view node) const {
    return node.empty() && is_of_cluster_ ? "<none>" : node_text(node);
  }

  void add_pod(const Value& document, const std::string& age, std::vector<std::string>& row) const {
    const PodRowText text = pod_row_text(document);
    row.push_back(text.ready);
    row.push_back(text.status);
    row.push_back(std::to_string(text.restarts));
    row.push_back(age);
    if (is_wide_) {
      row.emplace_back(document.at("status").text_at("podIP", "<none>"));
      row.push_back(node_called(document.at("spec").text_at("nodeName")));
    }
  }

  static void add_containers(const Value& document, std::vector<std::string>& row) {
    std::vector<std::string> names, images;
    const Value& containers = document.at("spec").at("template").at("spec").at("containers");
    for (const Value& container : items_of(containers)) {
      names.emplace_back(container.text_at("name"));
      images.emplace_back(container.text_at("image"));
    }
    row.push_back(join(names, ","));
    row.push_back(join(images, ","));
  }

  std::string age_of(const Value& document) const {
    const auto age = age_of_object(document, now_);
    return age ? age_text(*age) : std::string("<unknown>");
  }

  Time now_;
  bool names_kinds_, is_wide_, has_spaces_, is_of_cluster_, has_headers_, shows_labels_;
  std::vector<std::string> labels_;  ///< that have a column
};

/// One object, or a list of objects.
Value answer_of(const Workplace& place, const std::vector<ObjectQuery>& asked,
                const std::vector<ListedObject>& found) {
  std::vector<Value> documents;
  for (const ListedObject& each : found)
    documents.push_back(shown(place, each.document));
  if (asked.size() == 1 && asked[0].names.size() == 1 && documents.size() == 1)
    return documents[0];
  return list_document(std::move(documents));
}

void print_tables(const Face& face, const Table& table, const std::vector<ObjectQuery>& asked,
                  const std::vector<ListedObject>& found) {
  std::string text;
  for (const ObjectQuery& each : asked)
    if (const std::string part = table.of(each.kind, found); !part.empty())
      text += cat(text.empty() ? "" : "\n\n", part);
  if (!text.empty())
    print(text);
  else if (face.parsed.flag("all-namespaces") ||
           std::ranges::none_of(asked,
                                [](const ObjectQuery& each) { return has_namespace(each.kind); }))
    print_error("No resources found");
  else
    print_error(cat("No resources found in ", space_of(face), " namespace."));
}

/// Sorts by the field of `--sort-by`, if any.
Status sort_as_asked(const Face& face, std::vector<ListedObject>& found) {
  const std::string by = face.parsed.text("sort-by");
  if (by.empty())
    return {};
  const std::vector<std::string> path = TRY(field_path(by));
  const auto field = [&](const ListedObject& each) { return field_at(each.document, path); };
  if (!found.empty() &&
      std::ranges::all_of(found, [&](const ListedObject& each) { return field(each).is_null(); }))
    return user_error(cat("no object has a field `", printable(by), "`"));
  std::ranges::stable_sort(found, comes_before, field);
  return {};
}

Result<int> get(Face& face) {
  const std::vector<ObjectQuery> asked = TRY(asked_of(face));
  const std::unique_ptr<FleetAccess> fleet = TRY(fleet_asked(face));
  const Workplace& place = fleet->place();
  std::vector<ListedObject> found;
  for (const ObjectQuery& each : asked) {
    std::vector<ListedObject> some = TRY(listed(face, *fleet, each));
    found.insert(found.end(), some.begin(), some.end());
  }
  TRY(sort_as_asked(face, found));
  if (const Format& format = format_of(face.output); format.kind != Format::Kind::text) {
    format.print(answer_of(place, asked, found));
  } else if (face.output == "name") {
    for (const ListedObject& each : found)
      print(name_of(each));
  } else {
    print_tables(face, Table(face, place.clock(), asked.size() > 1), asked, found);
  }
  return 0;
}

}  // namespace

Command workload_get_command() {
  Command command = CommandGroup{"workloads", look_options()}.reader(
      "get", "KIND[,…] [NAME…] | KIND/NAME…", 1, 99,
      "Shows pods and manifests, as tables or documents.",
      {"fettle get pods -o wide", "fettle get all", "fettle get clonesets,pods -l app=web",
       "fettle get cloneset web -o yaml", "fettle get clonesets --kubeconfig ~/.kube/config"},
      get,
      {{{"-A", "--all-namespaces"}, "", "objects of all namespaces"},
       {{"-l", "--selector"}, "LABELS", "those with these labels: `app=web,tier in (a,b),!old`"},
       {{"--field-selector"},
        "FIELD=VALUE,…",
        "those with these fields: metadata.name, metadata.namespace, of pods also status.phase and "
        "spec.nodeName"},
       {{"--sort-by"}, "FIELD", "by this field, such as `.metadata.name`"},
       {{"-L", "--label-columns"}, "KEY,…", "a column for each of these labels", true},
       {{"--show-labels"}, "", "a column with all labels"},
       {{"--no-headers"}, "", "only the rows of a table"}});
  command.outputs = {"yaml", "name", "wide"};
  command.needs_no_state = is_about_cluster;
  return command;
}

}  // namespace fettle
