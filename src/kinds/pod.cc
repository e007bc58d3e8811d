#include "kinds/pod.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"
#include "kinds/pod_change.h"
#include "value/empty.h"

namespace fettle {
namespace {

/// Compares the members that a pod keeps for its life.
bool is_same_pod(const Pod& a, const Pod& b) {
  return a.name == b.name && a.space == b.space && a.node == b.node && a.uid == b.uid &&
         a.hostname == b.hostname && a.subdomain == b.subdomain && a.claims == b.claims;
}

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

Status check_images(const Dict& images) {
  for (const Entry& entry : images.entries())
    if (!entry.value.is_text())
      return user_error(cat("image of `", entry.key, "` must be a string"));
  return {};
}

Status check_conditions(const Dict& conditions) {
  for (const Entry& entry : conditions.entries())
    if (entry.value != Value("True") && entry.value != Value("False"))
      return user_error(cat("condition `", entry.key, "` must be `True` or `False`"));
  return {};
}

/// Sidecars as their own template, so that the same rule decides what changes in place.
Value as_template(const Value& sidecar) {
  std::vector<Entry> spec;
  for (const char* part : {"containers", "initContainers", "volumes"})
    spec.push_back({part, sidecar.at(part)});
  return Value::dict({{"spec", Value::dict(std::move(spec))}});
}

bool sidecars_change_in_place(const List& before, const List& after) {
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

/// A container that somebody stopped: engines restart only those that ended by themselves.
bool has_to_run_again(const ContainerStatus& container, std::string_view policy) {
  const Value& ended = container.state.at("terminated");
  return ended.is_dict() &&
         (policy == "Always" || (policy == "OnFailure" && ended.integer_at("exitCode") != 0));
}

class PodKind : public KindOf<Pod, PodOutputs, PodSeen> {
 public:
  PodKind() : KindOf("pod", Sort::observable) {}
  std::string shown(const Name& name) const override { return shown_on_node(name.view()); }

  bool in_place_changes(const Attributes& before, const Attributes& after) const override {
    const Pod was = read<Pod>(before), is = read<Pod>(after);
    if (!is_same_pod(was, is))
      return false;
    if (!was.claims_hash.empty() && !is.claims_hash.empty() && was.claims_hash != is.claims_hash)
      return false;
    const PodChangeGates gates{is.resize.get(), !is.keep_environment.get()};
    return pod_change(was.pod_template.value(), is.pod_template.value(), gates).in_place() &&
           sidecars_change_in_place(was.sidecars, is.sidecars);
  }

  /// Readiness, restarts and failures are its owner's matter. Here it only counts whether the pod
  /// exists, is whole, and runs what was last requested.
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (!seen.state || expected == Presence::absent || !known.applied)
      return Kind::compare(known, seen, expected);
    const PodSeen state = read<PodSeen>(*seen.state);
    if (state.is_cut_off)
      return {Verb::update, {}, "it is cut off from its network"};
    if (!state.containers.value().is_list() || state.phase == "Succeeded" ||
        state.phase == "Failed")
      return {};
    const Value spec = pod_spec(known.applied->attributes);
    for (const Value& container : spec.at("containers").items()) {
      const std::string_view name = container.text_at("name");
      const auto found = std::ranges::find_if(
          state.containers.items(), [&](const Value& row) { return row.text_at("name") == name; });
      if (found == state.containers.items().end())
        return {Verb::update, {std::string(name)}, cat("its container `", name, "` is gone")};
      const ContainerStatus status = read<ContainerStatus>(*found);
      if (!status.is_alive)
        return {Verb::update, {std::string(name)}, cat("its container `", name, "` is not alive")};
      if (has_to_run_again(status, spec.text_at("restartPolicy", "Always")))
        return {Verb::update, {std::string(name)}, cat("its container `", name, "` has ended")};
    }
    return {};
  }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    const Pod pod = read<Pod>(normal);
    if (pod.name.empty())
      return user_error("attribute `name` must not be empty");
    const Value& spec = pod.pod_template.at("spec");
    TRY(check_containers(spec.at("containers"), "template.spec.containers", false));
    TRY(check_containers(spec.at("initContainers"), "template.spec.initContainers", true));
    TRY(check_images(pod.images));
    TRY(check_conditions(pod.conditions));
    return normal;
  }
};

/// Adds the items whose names the list does not have.
void add_named(std::vector<Value>& list, const Value& more) {
  for (const Value& item : items_of(more))
    if (std::ranges::none_of(list,
                             [&](const Value& each) { return each.at("name") == item.at("name"); }))
      list.push_back(item);
}

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

Value pod_metadata(const Attributes& attributes, const char* field) {
  std::vector<Entry> entries;
  const auto add = [&](const Value& from) {
    if (from.is_dict())
      entries.insert(entries.end(), from.entries().begin(), from.entries().end());
  };
  add(dict_of(attributes).at("template").at("metadata").at(field));
  if (dict_of(attributes).at("sidecars").is_list())
    for (const Value& sidecar : dict_of(attributes).at("sidecars").items())
      add(sidecar.at(field));
  add(dict_of(attributes).at(field));
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

const Members& Pod::members() {
  static const Members all{
      required<&Pod::name>("name", "text"),
      member<&Pod::space>("namespace", "text"),
      member<&Pod::node>("node", "empty on an engine without nodes"),
      member<&Pod::revision>("revision", "that it is to have, as `web-5d4f8c7b9d`"),
      required<&Pod::pod_template>(
          "template",
          "{\"metadata\": {\"labels\", \"annotations\", \"finalizers\"}, \"spec\": PodSpec}"),
      extra<&Pod::uid>("uid", "identifies this pod among all of its name"),
      extra<&Pod::labels>("labels", "{key: text, or null for one of the template that it lacks}"),
      extra<&Pod::annotations>("annotations", "the same"),
      extra<&Pod::finalizers>("finalizers", "[text]"),
      extra<&Pod::images>("images", "{container: reference that it runs instead}"),
      extra<&Pod::conditions>(
          "conditions",
          "{type: `True` or `False`}: readiness gates that its owner sets. The pod is ready only "
          "while all are `True`. One that turns `False` together with another change is told to "
          "those who use the pod before anything is stopped"),
      extra<&Pod::claims>("claims", "{volume: name of a claim on the same node}"),
      extra<&Pod::claims_hash>(
          "claims_hash",
          "of the claim templates it was made with; compared when both sides have one"),
      extra<&Pod::configs>(
          "configs",
          "{`ConfigMap/NAME` or `Secret/NAME`: {key: text}}: what its template names. Volumes show "
          "a new one at once, an environment takes it when its container is recreated"),
      extra<&Pod::sidecars>(
          "sidecars",
          "[{\"name\": SidecarSet, \"revision\", \"containers\", \"initContainers\", "
          "\"volumes\", \"imagePullSecrets\", \"labels\", \"annotations\", \"before\": containers "
          "that stand before "
          "those of the template}]"),
      extra<&Pod::hostname>("hostname", "text"),
      extra<&Pod::subdomain>("subdomain", "text"),
      extra<&Pod::owner>("owner", "`CloneSet/NAME`: who wants it"),
      extra<&Pod::resize>("resize", "processor time and memory change in place"),
      extra<&Pod::keep_environment>(
          "keep_environment", "a label that an environment takes may change without its container"),
      extra<&Pod::state>("state", "its owner's memory")};
  return all;
}

const Value& pod_template_of(const Attributes& attributes) {
  return dict_of(attributes).at("template");
}

PodMemory memory_of_pod(const Attributes& attributes) {
  return read<PodMemory>(read_one<&Pod::state>(attributes).value());
}

bool is_in_grace(const Attributes& attributes) {
  return read<PodUpdate>(memory_of_pod(attributes).update).is_in_grace;
}

const Members& PodMemory::members() {
  static const Members all{member<&PodMemory::made>("made", "time"),
                           member<&PodMemory::is_marked>("marked", "users have changed its labels"),
                           member<&PodMemory::update>("update", "of an update that is under way")};
  return all;
}

const Members& PodUpdate::members() {
  static const Members all{
      member<&PodUpdate::is_in_grace>("grace", "its users are told, and nothing is stopped yet")};
  return all;
}

const Members& PodOutputs::members() {
  static const Members all{
      member<&PodOutputs::uid>("uid", "text"),
      member<&PodOutputs::ip>("ip", "address"),
      given<&PodOutputs::started>("started", "time"),
      given<&PodOutputs::image_error>("image_error", "of a failed act: why there is no image"),
      member<&PodOutputs::gates>("gates", "{type: time since when its condition is as it is}"),
      member<&PodOutputs::containers>("containers", "{name: its `containerID` as it is seen}"),
      member<&PodOutputs::restarts>(
          "restarts", "{name: how often it was started before, as far as fettle did it}")};
  return all;
}

const Members& PodSeen::members() {
  static const Members all{
      member<&PodSeen::phase>("phase", "`Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`"),
      member<&PodSeen::reason>("reason", "one word"),
      member<&PodSeen::message>("message", "text"),
      member<&PodSeen::ip>("podIP", "address"),
      member<&PodSeen::host_ip>("hostIP", "address"),
      member<&PodSeen::started>("startTime", "time"),
      member<&PodSeen::conditions>(
          "conditions",
          "[{\"type\", \"status\", \"lastTransitionTime\"}], with `Ready` among them"),
      member<&PodSeen::containers>("containerStatuses", "[container status]"),
      member<&PodSeen::init_containers>("initContainerStatuses", "[container status]"),
      extra<&PodSeen::is_cut_off>("cutOff", "somebody disconnected it from its network")};
  return all;
}

const Members& ContainerStatus::members() {
  static const Members all{
      member<&ContainerStatus::name>("name", "of the container"),
      member<&ContainerStatus::state>("state", "{`running`, `waiting` or `terminated`: {…}}"),
      member<&ContainerStatus::is_alive>(
          "alive", "false of one whose liveness probe has failed too often: it is recreated")};
  return all;
}

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

Value pod_spec(const Attributes& attributes) {
  const Value& spec = dict_of(attributes).at("template").at("spec");
  const Value &sidecars = dict_of(attributes).at("sidecars"),
              &images = dict_of(attributes).at("images");
  const Value& node = dict_of(attributes).at("node");
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
  const auto own = items_of(spec.at("imagePullSecrets"));
  std::vector<Value> secrets(own.begin(), own.end());
  for (const Value& sidecar : items_of(sidecars))
    add_named(secrets, sidecar.at("imagePullSecrets"));
  if (secrets.size() > own.size())
    entries.push_back({"imagePullSecrets", Value::list(std::move(secrets))});
  return Value::dict(std::move(entries));
}

std::vector<std::string> container_names(const Attributes& attributes) {
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

Value pod_labels(const Attributes& attributes) { return pod_metadata(attributes, "labels"); }

Value pod_annotations(const Attributes& attributes) {
  return pod_metadata(attributes, "annotations");
}

std::string_view pod_image(const Attributes& attributes, std::string_view container) {
  if (const Value& own = dict_of(attributes).at("images").at(container); own.is_text())
    return dict_of(attributes).at("images").text_at(container);
  const auto in = [&](const Value& containers) -> std::string_view {
    if (containers.is_list())
      for (const Value& each : containers.items())
        if (each.text_at("name") == container)
          return each.text_at("image");
    return {};
  };
  if (const auto found = in(dict_of(attributes).at("template").at("spec").at("containers"));
      !found.empty())
    return found;
  if (dict_of(attributes).at("sidecars").is_list())
    for (const Value& sidecar : dict_of(attributes).at("sidecars").items())
      if (const auto found = in(sidecar.at("containers")); !found.empty())
        return found;
  return {};
}

namespace {

/// Labels and annotations that environments of containers take, as `labels/KEY`.
std::vector<std::string> taken_metadata(const Attributes& attributes) {
  std::vector<std::string> keys;
  const auto add = [&](const Value& containers) {
    for (const Value& container : items_of(containers))
      for (const Value& variable : items_of(container.at("env")))
        if (std::string key =
                metadata_reference(variable.at("valueFrom").at("fieldRef").text_at("fieldPath"));
            !key.empty())
          keys.push_back(std::move(key));
  };
  add(dict_of(attributes).at("template").at("spec").at("containers"));
  for (const Value& sidecar : items_of(dict_of(attributes).at("sidecars")))
    add(sidecar.at("containers"));
  return keys;
}

}  // namespace

bool may_change_readiness(const Attributes& then, const Attributes& now) {
  const Value &before = dict_of(then), &after = dict_of(now);
  const Value &was = before.at("template"), &is = after.at("template");
  for (const char* field : {"sidecars", "images", "conditions"})
    if (before.at(field) != after.at(field))
      return true;
  if (was.at("spec") != is.at("spec") || restart_of(was) != restart_of(is))
    return true;
  const std::vector<std::string> taken = taken_metadata(now);
  if (taken.empty() || after.bool_at("keep_environment"))
    return false;
  for (const auto metadata : {pod_labels, pod_annotations}) {
    const std::string_view part = metadata == pod_labels ? "labels/" : "annotations/";
    const Value old = metadata(then), current = metadata(now);
    for (const std::string_view key : taken)
      if (key.starts_with(part) &&
          old.at(key.substr(part.size())) != current.at(key.substr(part.size())))
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

const TypedKind& pod_kind() {
  static const PodKind kind;
  return kind;
}

}  // namespace fettle
