/// Containers that share one address on one node, in the shape that Kubernetes gives a Pod. An act
/// ends when the containers run: whether they are ready is seen, not awaited. Its address, node and
/// volumes survive what changes in place (`pod_change.h`).
///
/// Its key's name is `NODE|NAMESPACE/NAME`. Attributes; those from `labels` on are left out when
/// they are empty or false:
///   "name", "namespace", "node"   texts; the node is empty on an engine without nodes
///   "uid"           what it is, and no pod of its name before or after it; left out: nobody said
///   "revision"      name of the revision that it is to have, as `web-5d4f8c7b9d`
///   "template"      {"metadata": {"labels", "annotations", "finalizers"}, "spec": PodSpec}: one
///                   `Value` that all pods of a revision share
///   "labels", "annotations"  {key: text or null}: what it has beyond its template; null: a key of
///                   the template that it does not have
///   "finalizers"    [text]
///   "images"        {container: reference}: runs this instead of the template's image
///   "conditions"    {type: "True" | "False"}: readiness gates that its owner sets. The pod is
///                   ready only while all are "True". One that turns "False" together with another
///                   change is told to those who use the pod before anything is stopped
///   "claims"        {volume: name of a claim on the same node}: mounted as that volume
///   "claims_hash"   of the claim templates it was made with; compared when both sides have one
///   "configs"       {"ConfigMap/NAME" | "Secret/NAME": {key: text}}: what its template names;
///                   values of a Secret are secret. Volumes show a new one at once, an environment
///                   takes it when its container is made anew
///   "sidecars"      [{"name": SidecarSet, "revision", "containers", "initContainers", "volumes",
///                   "labels", "annotations", "before": names of containers that stand before
///                   those of the template}]
///   "hostname", "subdomain"
///   "owner"         `CloneSet/NAME`: who wants it
///   "resize"        processor time and memory change in place
///   "keep_environment"  a label that an environment takes may change without its container
///   "state"         what its owner remembers; drivers do not look at it
/// outputs  {"uid", "ip", "started": time, "gates": {type: time, since when its condition is as it
///          is}, "containers": {name: its `containerID` as it is seen},
///          "restarts": {name: how often it was started before, as far as fettle did it}}
/// seen     a Pod's status: {"phase": "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown",
///          "reason", "message", "podIP", "hostIP", "startTime",
///          "conditions": [{"type", "status", "lastTransitionTime"}], with "Ready" among them,
///          "containerStatuses": [{"name", "image", "imageID", "containerID", "ready",
///          "restartCount", "started", "state": {"running" | "waiting" | "terminated": {…}},
///          "alive": false of one whose liveness probe has failed too often: it is made anew,
///          "backOff": true of one that restarts again and again}],
///          "initContainerStatuses": the same}. Times as `2026-11-22T13:40:53Z`. A container that
///          has been wanted and is not there has no row.

#include "kinds/pod.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/pod_change.h"
#include "kinds/schema.h"
#include "value/empty.h"

namespace fettle {
namespace {

const Value no_dict = Value::dict({});
const Value no_list = Value::list({});

/// Attributes that a pod keeps for its life.
constexpr std::string_view fixed[] = {"name",     "namespace", "node",  "uid",
                                      "hostname", "subdomain", "claims"};

Status check_containers(const Value& containers, std::string_view path, bool may_lack) {
  if (containers.is_null() && may_lack)
    return {};
  if (!containers.is_list() || (containers.items().empty() && !may_lack))
    return user_error(cat("`", path, "` must be a list of containers"));
  for (const Value& container : containers.items())
    if (!container.is_dict() || container.text_at("name").empty())
      return user_error(cat("each of `", path, "` must be a dict with a `name`"));
  return {};
}

Status check_images(const Value& images) {
  for (const Entry& entry : images.entries())
    if (!entry.value.is_text())
      return user_error(cat("image of `", entry.key, "` must be a string"));
  return {};
}

Status check_conditions(const Value& conditions) {
  for (const Entry& entry : conditions.entries())
    if (entry.value != Value("True") && entry.value != Value("False"))
      return user_error(cat("condition `", entry.key, "` must be `True` or `False`"));
  return {};
}

/// Sidecars as a template of their own, so that the same rule says what changes in place.
Value as_template(const Value& sidecar) {
  std::vector<Entry> spec;
  for (const char* part : {"containers", "initContainers", "volumes"})
    spec.push_back({part, sidecar.at(part)});
  return Value::dict({{"spec", Value::dict(std::move(spec))}});
}

bool sidecars_change_in_place(const Value& before, const Value& after) {
  if (is_empty(before) || is_empty(after))
    return is_empty(before) == is_empty(after);
  if (before.items().size() != after.items().size())
    return false;
  for (size_t i = 0; i < after.items().size(); ++i) {
    const Value &was = before.items()[i], &is = after.items()[i];
    if (was.at("name") != is.at("name") ||
        !pod_change(as_template(was), as_template(is), {}).in_place())
      return false;
  }
  return true;
}

/// One that somebody stopped: engines start only those again that ended by themselves.
bool has_to_run_again(const Value& container, std::string_view policy) {
  const Value& ended = container.at("state").at("terminated");
  return ended.is_dict() &&
         (policy == "Always" || (policy == "OnFailure" && ended.integer_at("exitCode") != 0));
}

class PodKind : public Kind {
 public:
  Name name() const override { return "pod"; }
  std::string shown(const Name& name) const override { return shown_on_node(name.view()); }
  Sort sort() const override { return Sort::observable; }

  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"name", Field::text, {}},
                               {"namespace", Field::text, "default"},
                               {"node", Field::text, ""},
                               {"uid", Field::text, ""},
                               {"revision", Field::text, ""},
                               {"template", Field::dict, {}},
                               {"labels", Field::dict, no_dict},
                               {"annotations", Field::dict, no_dict},
                               {"finalizers", Field::list, no_list},
                               {"images", Field::dict, no_dict},
                               {"conditions", Field::dict, no_dict},
                               {"claims", Field::dict, no_dict},
                               {"claims_hash", Field::text, ""},
                               {"configs", Field::dict, no_dict},
                               {"sidecars", Field::list, no_list},
                               {"hostname", Field::text, ""},
                               {"subdomain", Field::text, ""},
                               {"owner", Field::text, ""},
                               {"resize", Field::boolean, false},
                               {"keep_environment", Field::boolean, false},
                               {"state", Field::dict, no_dict}};
    const Value normal = TRY(schema.normalise(attributes));
    if (normal.text_at("name").empty())
      return user_error("attribute `name` must not be empty");
    const Value& spec = normal.at("template").at("spec");
    TRY(check_containers(spec.at("containers"), "template.spec.containers", false));
    TRY(check_containers(spec.at("initContainers"), "template.spec.initContainers", true));
    TRY(check_images(normal.at("images")));
    TRY(check_conditions(normal.at("conditions")));
    std::vector<Entry> entries;
    for (const Entry& entry : normal.entries())
      if (!is_empty(entry.value) || entry.key == "node" || entry.key == "revision")
        entries.push_back(entry);
    return Value::dict(std::move(entries));
  }

  bool in_place_changes(const Value& before, const Value& after) const override {
    for (const std::string_view field : fixed)
      if (before.at(field) != after.at(field))
        return false;
    const Value &was = before.at("claims_hash"), &is = after.at("claims_hash");
    if (!was.is_null() && !is.is_null() && was != is)
      return false;
    const PodChangeGates gates{after.bool_at("resize"), !after.bool_at("keep_environment")};
    return pod_change(before.at("template"), after.at("template"), gates).in_place() &&
           sidecars_change_in_place(before.at("sidecars"), after.at("sidecars"));
  }

  /// Whether it is ready, restarts or fails is its owner's matter. Here counts only whether it is
  /// there, whole, and runs what was last asked for.
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (!seen.state || expected == Presence::absent || !known.applied)
      return Kind::compare(known, seen, expected);
    const Value &statuses = seen.state->at("containerStatuses"),
                &attributes = known.applied->attributes;
    const Value spec = pod_spec(attributes);
    if (seen.state->bool_at("cutOff"))
      return {Verb::update, {}, "it is cut off from its network"};
    if (!statuses.is_list() || seen.state->text_at("phase") == "Succeeded" ||
        seen.state->text_at("phase") == "Failed")
      return {};
    for (const Value& container : spec.at("containers").items()) {
      const std::string_view name = container.text_at("name");
      const auto found = std::ranges::find_if(
          statuses.items(), [&](const Value& row) { return row.text_at("name") == name; });
      if (found == statuses.items().end())
        return {Verb::update, {std::string(name)}, cat("its container `", name, "` is gone")};
      if (!found->bool_at("alive", true))
        return {Verb::update, {std::string(name)}, cat("its container `", name, "` is not alive")};
      if (has_to_run_again(*found, spec.text_at("restartPolicy", "Always")))
        return {Verb::update, {std::string(name)}, cat("its container `", name, "` has ended")};
    }
    return {};
  }
};

Value joined(const Value& first, std::span<const Value> more) {
  std::vector<Value> items;
  if (first.is_list())
    items.assign(first.items().begin(), first.items().end());
  items.insert(items.end(), more.begin(), more.end());
  return Value::list(std::move(items));
}

bool comes_first(const Value& sidecar, const Value& container) {
  const Value& first = sidecar.at("before");
  return first.is_list() &&
         std::ranges::find(first.items(), container.at("name")) != first.items().end();
}

Value with_images(const Value& containers, const Value& images) {
  if (!containers.is_list() || !images.is_dict())
    return containers;
  std::vector<Value> items;
  for (const Value& container : containers.items()) {
    const Value& image = images.at(container.text_at("name"));
    if (image.is_null()) {
      items.push_back(container);
      continue;
    }
    std::vector<Entry> entries(container.entries().begin(), container.entries().end());
    entries.push_back({"image", image});
    items.push_back(Value::dict(std::move(entries)));
  }
  return Value::list(std::move(items));
}

Value pod_metadata(const Value& attributes, const char* field) {
  std::vector<Entry> entries;
  const auto add = [&](const Value& from) {
    if (from.is_dict())
      entries.insert(entries.end(), from.entries().begin(), from.entries().end());
  };
  add(attributes.at("template").at("metadata").at(field));
  if (attributes.at("sidecars").is_list())
    for (const Value& sidecar : attributes.at("sidecars").items())
      add(sidecar.at(field));
  add(attributes.at(field));
  const auto is_before = [](const Entry& a, const Entry& b) { return a.key.view() < b.key.view(); };
  std::stable_sort(entries.begin(), entries.end(), is_before);
  std::vector<Entry> kept;
  kept.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool is_last = i + 1 == entries.size() || entries[i].key != entries[i + 1].key;
    if (is_last && !entries[i].value.is_null())
      kept.push_back(std::move(entries[i]));
  }
  return Value::dict(std::move(kept));
}

}  // namespace

Name node_name_of(std::string_view node, std::string_view space, std::string_view name) {
  return cat(node, "|", space, "/", name);
}

OnNode on_node(std::string_view key_name) {
  const size_t bar = key_name.find('|');
  if (bar == key_name.npos)
    return {false, {}, key_name};
  return {true, key_name.substr(0, bar), key_name.substr(bar + 1)};
}

std::string shown_on_node(std::string_view key_name) {
  const OnNode name = on_node(key_name);
  return cat(name.rest, name.node.empty() ? "" : " on ", name.node);
}

NodeAddress node_address(std::string_view key_name) {
  const auto [is_on_node, node, rest] = on_node(key_name);
  const size_t slash = rest.find('/');
  if (slash == rest.npos)
    return {node, {}, rest};
  return {node, rest.substr(0, slash), rest.substr(slash + 1)};
}

Value pod_spec(const Value& attributes) {
  const Value& spec = attributes.at("template").at("spec");
  const Value &sidecars = attributes.at("sidecars"), &images = attributes.at("images");
  const Value& node = attributes.at("node");
  std::vector<Entry> entries(spec.entries().begin(), spec.entries().end());
  if (node.is_text() && !node.text().empty())
    entries.push_back({"nodeName", node});
  for (const char* part : {"containers", "initContainers", "volumes"}) {
    const bool are_containers = part == std::string_view("containers");
    std::vector<Value> first, last;
    for (const Value& sidecar : items_of(sidecars))
      for (const Value& item : items_of(sidecar.at(part)))
        (are_containers && comes_first(sidecar, item) ? first : last).push_back(item);
    Value list = spec.at(part);
    if (!first.empty())
      list = joined(Value::list(std::move(first)), items_of(list));
    if (!last.empty())
      list = joined(list, last);
    if (are_containers)
      list = with_images(list, images);
    if (!list.is_null())
      entries.push_back({part, std::move(list)});
  }
  return Value::dict(std::move(entries));
}

std::vector<std::string> container_names(const Value& attributes) {
  const Value spec = pod_spec(attributes);
  std::vector<std::string> running, sidecars, ending;
  for (const Value& container : items_of(spec.at("containers")))
    running.emplace_back(container.text_at("name"));
  for (const Value& container : items_of(spec.at("initContainers")))
    (container.text_at("restartPolicy") == "Always" ? sidecars : ending)
        .emplace_back(container.text_at("name"));
  running.insert(running.end(), sidecars.begin(), sidecars.end());
  running.insert(running.end(), ending.begin(), ending.end());
  return running;
}

Value pod_labels(const Value& attributes) { return pod_metadata(attributes, "labels"); }

Value pod_annotations(const Value& attributes) { return pod_metadata(attributes, "annotations"); }

std::string_view pod_image(const Value& attributes, std::string_view container) {
  if (const Value& own = attributes.at("images").at(container); own.is_text())
    return attributes.at("images").text_at(container);
  const auto in = [&](const Value& containers) -> std::string_view {
    if (containers.is_list())
      for (const Value& each : containers.items())
        if (each.text_at("name") == container)
          return each.text_at("image");
    return {};
  };
  if (const auto found = in(attributes.at("template").at("spec").at("containers")); !found.empty())
    return found;
  if (attributes.at("sidecars").is_list())
    for (const Value& sidecar : attributes.at("sidecars").items())
      if (const auto found = in(sidecar.at("containers")); !found.empty())
        return found;
  return {};
}

namespace {

/// Labels and annotations that environments of containers take, as `labels/KEY`.
std::vector<std::string> taken_metadata(const Value& attributes) {
  std::vector<std::string> keys;
  const auto add = [&](const Value& containers) {
    for (const Value& container : items_of(containers))
      for (const Value& variable : items_of(container.at("env")))
        if (std::string key =
                metadata_reference(variable.at("valueFrom").at("fieldRef").text_at("fieldPath"));
            !key.empty())
          keys.push_back(std::move(key));
  };
  add(attributes.at("template").at("spec").at("containers"));
  for (const Value& sidecar : items_of(attributes.at("sidecars")))
    add(sidecar.at("containers"));
  return keys;
}

}  // namespace

bool may_change_readiness(const Value& before, const Value& after) {
  const Value &was = before.at("template"), &is = after.at("template");
  for (const char* field : {"sidecars", "images", "conditions"})
    if (before.at(field) != after.at(field))
      return true;
  if (was.at("spec") != is.at("spec") || restart_of(was) != restart_of(is))
    return true;
  const std::vector<std::string> taken = taken_metadata(after);
  if (taken.empty() || after.bool_at("keep_environment"))
    return false;
  for (const auto metadata : {pod_labels, pod_annotations}) {
    const std::string_view part = metadata == pod_labels ? "labels/" : "annotations/";
    const Value old = metadata(before), now = metadata(after);
    for (const std::string_view key : taken)
      if (key.starts_with(part) &&
          old.at(key.substr(part.size())) != now.at(key.substr(part.size())))
        return true;
  }
  return false;
}

namespace {

/// OpenKruise: `KRUISE_CONTAINER_PRIORITY`, or the place where the order is that of the list.
std::optional<int64_t> priority_of(const Value& container, size_t place, bool is_ordered) {
  if (const Value& variables = container.at("env"); variables.is_list())
    for (const Value& variable : variables.items()) {
      if (variable.text_at("name") != "KRUISE_CONTAINER_PRIORITY")
        continue;
      const std::string text = to_text(variable.at("value"));
      int64_t priority = 0;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), priority);
      if (read.ec == std::errc() && read.ptr == text.data() + text.size())
        return priority;
    }
  return is_ordered ? std::optional(-static_cast<int64_t>(place)) : std::nullopt;
}

}  // namespace

std::map<Name, int64_t> launch_priorities(const Value& pod_template) {
  const Value& annotations = pod_template.at("metadata").at("annotations");
  const bool is_ordered =
      annotations.text_at("apps.kruise.io/container-launch-priority") == "Ordered";
  std::map<Name, int64_t> found;
  size_t place = 0;
  if (const Value& containers = pod_template.at("spec").at("containers"); containers.is_list())
    for (const Value& container : containers.items())
      if (const auto priority = priority_of(container, place++, is_ordered))
        found[container.text_at("name")] = *priority;
  return found;
}

const Kind& pod_kind() {
  static const PodKind kind;
  return kind;
}

}  // namespace fettle
