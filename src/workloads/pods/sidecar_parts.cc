#include "workloads/pods/sidecar_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/text.h"
#include "kinds/pod_change.h"
#include "value/json.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

const Value* find_named(const Value& list, std::string_view name) {
  for (const Value& item : items_of(list))
    if (item.text_at("name") == name)
      return &item;
  return nullptr;
}

Value with_items(const Value& list, std::vector<Value> more) {
  more.insert(more.begin(), items_of(list).begin(), items_of(list).end());
  return Value::list(std::move(more));
}

bool is_shared(const Value& sidecar, std::string_view policy) {
  return sidecar.at(policy).text_at("type") == "enabled";
}

/// Adds what the pod's containers have in a list, for each `key` that the sidecar has not itself.
Value with_shared(const Value& sidecar, const Value& containers, std::string_view list,
                  std::string_view key) {
  std::set<Name> known;
  for (const Value& item : items_of(sidecar.at(list)))
    known.insert(item.text_at(key));
  std::vector<Value> more;
  for (const Value& container : items_of(containers))
    for (const Value& item : items_of(container.at(list)))
      if (known.insert(item.text_at(key)).second)
        more.push_back(item);
  return more.empty() ? sidecar
                      : edited(sidecar, {{list, with_items(sidecar.at(list), std::move(more))}});
}

Value with_shared_volumes(const Value& sidecar, const Value& containers) {
  const Value lent = is_shared(sidecar, "shareVolumePolicy")
                         ? with_shared(sidecar, containers, "volumeMounts", "mountPath")
                         : sidecar;
  return is_shared(sidecar, "shareVolumeDevicePolicy")
             ? with_shared(lent, containers, "volumeDevices", "devicePath")
             : lent;
}

/// Whether a path of a volume of a container names a variable, as `$(NAME)`.
bool is_in_a_path(const Value& container, std::string_view variable) {
  const std::string reference = cat("$(", variable, ")");
  return std::ranges::any_of(items_of(container.at("volumeMounts")), [&](const Value& mount) {
    return mount.text_at("subPathExpr").find(reference) != std::string_view::npos;
  });
}

/// The container that lends its environment: it is named, or a label or annotation of the pod names
/// it.
Name source_of(const Value& transfer, const Value& pod_template) {
  const Value& from = transfer.at("sourceContainerNameFrom").at("fieldRef");
  if (!from.is_dict())
    return transfer.text_at("sourceContainerName");
  const std::string reference = metadata_reference(from.text_at("fieldPath"));
  const size_t slash = reference.find('/');
  if (slash == reference.npos)
    return {};
  const Value& metadata = pod_template.at("metadata").at(reference.substr(0, slash));
  return metadata.text_at(reference.substr(slash + 1));
}

bool is_transferred(const Value& transfer, const Value& name) {
  if (transfer.at("envName") == name)
    return true;
  const auto names = items_of(transfer.at("envNames"));
  return std::ranges::find(names, name) != names.end();
}

/// Adds the variables of the pod's containers that it asks for, or that paths of lent volumes need,
/// and that it does not have itself.
Value with_transferred_env(const Value& sidecar, const Value& pod_template) {
  std::set<Name> known;
  for (const Value& variable : items_of(sidecar.at("env")))
    known.insert(variable.text_at("name"));
  std::vector<Value> more;
  for (const Value& transfer : items_of(sidecar.at("transferEnv"))) {
    const Value* source =
        find_named(pod_template.at("spec").at("containers"), source_of(transfer, pod_template));
    if (source == nullptr)
      continue;
    for (const Value& variable : items_of(source->at("env")))
      if (is_transferred(transfer, variable.at("name")) &&
          known.insert(variable.text_at("name")).second)
        more.push_back(variable);
  }
  if (is_shared(sidecar, "shareVolumePolicy"))
    for (const Value& container : items_of(pod_template.at("spec").at("containers")))
      for (const Value& variable : items_of(container.at("env")))
        if (const Name name = variable.text_at("name");
            is_in_a_path(container, name) && known.insert(name).second)
          more.push_back(variable);
  return more.empty() ? sidecar
                      : edited(sidecar, {{"env", with_items(sidecar.at("env"), std::move(more))}});
}

bool is_hot(const Value& container) {
  return container.at("upgradeStrategy").text_at("upgradeType") == "HotUpgrade";
}

Value version_variable(std::string_view name, const Name& key) {
  const Value source = Value::dict(
      {{"fieldRef", Value::dict({{"fieldPath", cat("metadata.annotations['", key, "']")}})}});
  return Value::dict({{"name", name}, {"valueFrom", source}});
}

/// The number in an annotation, which somebody may have written. 0: it is no version.
int64_t number_in(const Value& annotations, const Name& key) {
  constexpr int64_t most = 1'000'000'000'000;
  const std::string_view text = annotations.text_at(key);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number > 0 && number < most ? number : 0;
}

/// The two containers of a hot sidecar.
struct HotPair {
  struct One {
    Name name;
    Value image;
    int64_t version = 0, other_version = 0;
  };
  std::array<One, 2> ones;
  size_t working = 0;
  bool is_leaving = false;  ///< the other one still does the former work

  One& worker() { return ones[working]; }
  One& other() { return ones[1 - working]; }

  /// Takes an image. A new one goes to the idle container, which works from now on. While an update
  /// is under way, it goes to the one that has just begun to work.
  void take(const Value& image, const Value& empty_image) {
    if (!is_leaving && worker().image != image) {
      working = 1 - working;
      is_leaving = true;
      worker().version = other().version + 1;
      worker().other_version = other().version;
    }
    worker().image = image;
    if (!is_leaving)
      other().image = empty_image;
  }
};

HotPair new_pair(const Name& name, const Value& image, const Value& empty_image) {
  return {{{{cat(name, "-1"), image, 1, 0}, {cat(name, "-2"), empty_image, 0, 1}}}};
}

/// The pair as a pod has it; unchanged if the pod has none.
HotPair known_pair(HotPair pair, const Name& name, const Value& before) {
  const Value& working = before.at("working").at(name);
  for (HotPair::One& one : pair.ones)
    if (!working.is_text() || find_named(before.at("containers"), one.name) == nullptr)
      return pair;
  const Value& annotations = before.at("annotations");
  for (HotPair::One& one : pair.ones) {
    one.image = find_named(before.at("containers"), one.name)->at("image");
    one.version = number_in(annotations, version_key(one.name));
    one.other_version = number_in(annotations, other_version_key(one.name));
  }
  pair.working = working == Value(pair.ones[1].name) ? 1 : 0;
  pair.is_leaving = !before.at("leaving").at(pair.other().name).is_null();
  return pair;
}

/// Builds the part of one pod.
class Builder {
 public:
  Builder(const Value& pod_template, const Value& before)
      : pod_template_(pod_template), before_(before) {}

  Value containers(const Value& list) {
    std::vector<Value> items;
    for (const Value& container : items_of(list)) {
      const Value lent = with_transferred_env(
          with_shared_volumes(container, pod_template_.at("spec").at("containers")), pod_template_);
      const Value plain = edited(lent, {{"shareVolumePolicy", {}},
                                        {"shareVolumeDevicePolicy", {}},
                                        {"transferEnv", {}},
                                        {"upgradeStrategy", {}}});
      if (is_hot(container))
        add_pair(plain, container.at("upgradeStrategy").at("hotUpgradeEmptyImage"), items);
      else
        items.push_back(plain);
    }
    return Value::list(std::move(items));
  }

  /// Adds everything but containers.
  void add_to(std::vector<Entry>& entries) {
    if (working_.empty())
      return;
    entries.push_back({"annotations", Value::dict(std::move(annotations_))});
    entries.push_back({"working", Value::dict(std::move(working_))});
    if (!leaving_.empty())
      entries.push_back({"leaving", Value::dict(std::move(leaving_))});
  }

 private:
  void add_pair(const Value& container, const Value& empty_image, std::vector<Value>& items) {
    const Name name = container.text_at("name");
    const Value& image = container.at("image");
    HotPair pair = known_pair(new_pair(name, image, empty_image), name, before_);
    pair.take(image, empty_image);
    for (const HotPair::One& one : pair.ones) {
      const Name version = version_key(one.name), other = other_version_key(one.name);
      annotations_.push_back({version, std::to_string(one.version)});
      annotations_.push_back({other, std::to_string(one.other_version)});
      items.push_back(edited(
          container, {{"name", one.name},
                      {"image", one.image},
                      {"env", with_items(container.at("env"),
                                         {version_variable("SIDECARSET_VERSION", version),
                                          version_variable("SIDECARSET_VERSION_ALT", other)})}}));
    }
    working_.push_back({name, pair.worker().name});
    if (pair.is_leaving)
      leaving_.push_back({pair.other().name, empty_image});
  }

  const Value& pod_template_;
  const Value& before_;
  std::vector<Entry> annotations_, working_, leaving_;
};

/// The containers that stand before the pod's own, by their names in the pod.
Value first_containers(const Workload& set, const Value& containers) {
  std::vector<Value> names;
  for (const Name& name : set.first_containers) {
    const Value* container = find_named(containers, name);
    if (container != nullptr && is_hot(*container))
      names.insert(names.end(), {cat(name, "-1"), cat(name, "-2")});
    else
      names.emplace_back(name);
  }
  return Value::list(std::move(names));
}

}  // namespace

Name version_key(const Name& container) { return cat("version.sidecarset.kruise.io/", container); }
Name other_version_key(const Name& container) {
  return cat("versionalt.sidecarset.kruise.io/", container);
}

Value sidecar_of(const Workload& set, const Revision& revision, const Value& pod_template,
                 const Value& before) {
  const Value& spec = revision.pod_template.at("spec");
  std::vector<Entry> entries{{"name", set.name}, {"revision", revision.name}};
  if (!set.first_containers.empty())
    entries.push_back({"before", first_containers(set, spec.at("containers"))});
  Builder builder(pod_template, before);
  for (const char* part : {"containers", "initContainers"})
    if (spec.at(part).is_list())
      entries.push_back({part, builder.containers(spec.at(part))});
  for (const char* part : {"volumes", "imagePullSecrets"})
    if (spec.at(part).is_list())
      entries.push_back({part, spec.at(part)});
  builder.add_to(entries);
  return Value::dict(std::move(entries));
}

bool has_leaving(const Value& sidecar) { return sidecar.at("leaving").is_dict(); }

Value without_leaving(const Value& sidecar) {
  std::vector<Value> containers;
  std::vector<Entry> annotations;
  for (const Value& container : items_of(sidecar.at("containers"))) {
    const Name name = container.text_at("name");
    const Value& empty_image = sidecar.at("leaving").at(name);
    containers.push_back(empty_image.is_null() ? container
                                               : edited(container, {{"image", empty_image}}));
    if (!empty_image.is_null())
      annotations.push_back({version_key(name), "0"});
  }
  return edited(sidecar,
                {{"containers", Value::list(std::move(containers))},
                 {"annotations", edited(sidecar.at("annotations"), std::move(annotations))},
                 {"leaving", {}}});
}

Value joined_sidecars(std::vector<Value> sidecars) {
  std::vector<Entry> working;
  for (const Value& sidecar : sidecars)
    if (const Value& own = sidecar.at("working"); own.is_dict())
      working.insert(working.end(), own.entries().begin(), own.entries().end());
  if (!working.empty()) {
    const std::string text = write_json(Value::dict(std::move(working)), {.indent = 0});
    for (Value& sidecar : sidecars)
      if (sidecar.at("working").is_dict())
        sidecar = edited(
            sidecar,
            {{"annotations", edited(sidecar.at("annotations"), {{annotation::working, text}})}});
  }
  return Value::list(std::move(sidecars));
}

Value sidecar_template(const Value& sidecar) {
  std::vector<Entry> entries;
  for (const char* part : {"containers", "initContainers", "volumes"})
    if (sidecar.at(part).is_list())
      entries.push_back({part, sidecar.at(part)});
  return Value::dict({{"spec", Value::dict(std::move(entries))}});
}

}  // namespace fettle::workloads
