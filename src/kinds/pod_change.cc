#include "kinds/pod_change.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "kinds/quantity.h"

namespace fettle {
namespace {

constexpr std::string_view restart_reference = "annotations/kubectl.kubernetes.io/restartedAt",
                           restart_path = "metadata.annotations.kubectl.kubernetes.io/restartedAt";
constexpr std::array<std::string_view, 2> amounts{"cpu", "memory"};

/// The first key at which two dicts differ, except those that `may` lists; empty: none.
std::string_view differing_key(const Value& before, const Value& after,
                               std::initializer_list<std::string_view> may) {
  const auto differs = [&](const Entry& entry, const Value& other) {
    return std::ranges::find(may, entry.key.view()) == may.end() &&
           entry.value != other.at(entry.key);
  };
  for (const Entry& entry : after.entries())
    if (differs(entry, before))
      return entry.key.view();
  for (const Entry& entry : before.entries())
    if (differs(entry, after))
      return entry.key.view();
  return {};
}

/// Empty, or the path below `resources` that cannot change.
std::string refused_resources(const Value& before, const Value& after) {
  if (!before.is_dict() || !after.is_dict())
    return "resources";
  if (const auto key = differing_key(before, after, {"limits", "requests"}); !key.empty())
    return cat("resources.", key);
  for (const std::string_view part : {"limits", "requests"}) {
    const Value &was = before.at(part), &is = after.at(part);
    if (was == is)
      continue;
    if (!was.is_dict() || !is.is_dict())
      return cat("resources.", part);
    if (const auto key = differing_key(was, is, {"cpu", "memory"}); !key.empty())
      return cat("resources.", part, ".", key);
    for (const std::string_view amount : amounts)
      if (was.at(amount).is_null() != is.at(amount).is_null())
        return cat("resources.", part, ".", amount);
  }
  return {};
}

void change_container(const Value& before, const Value& after, const std::string& path,
                      const PodChangeGates& gates, PodChange& change) {
  if (!before.is_dict() || !after.is_dict()) {
    change.refusal = path;
    return;
  }
  if (const auto key = differing_key(before, after, {"image", "resources"}); !key.empty()) {
    change.refusal = cat(path, ".", key);
    return;
  }
  const Value& name = after.at("name");
  if (const Value &was = before.at("image"), &is = after.at("image"); was != is) {
    if (!was.is_text() || !is.is_text() || !name.is_text()) {
      change.refusal = cat(path, ".image");
      return;
    }
    change.images.push_back(name.text());
  }
  if (const Value &was = before.at("resources"), &is = after.at("resources"); was != is) {
    const std::string refused = gates.resources ? refused_resources(was, is) : "resources";
    if (!refused.empty() || !name.is_text())
      change.refusal = cat(path, ".", refused);
    else
      change.resources.push_back(name.text());
  }
}

/// The key that a variable takes from the pod, as `labels/KEY`; empty: it takes none.
std::string reference_of(const Value& variable) {
  return metadata_reference(variable.at("valueFrom").at("fieldRef").text_at("fieldPath"));
}

/// Whether `labels/KEY` was added to an existing map, or replaced in it.
bool is_set(const Value& before, const Value& after, std::string_view reference) {
  const size_t slash = reference.find('/');
  const Value& was = before.at("metadata").at(reference.substr(0, slash));
  const Value& is = after.at("metadata").at(reference.substr(0, slash));
  const std::string_view key = reference.substr(slash + 1);
  return was.is_dict() && is.is_dict() && is.find(key) != nullptr && was.at(key) != is.at(key);
}

void find_environment(const Value& before, const Value& after, PodChange& change) {
  const Value& containers = after.at("spec").at("containers");
  if (!containers.is_list())
    return;
  const bool is_restart = restart_of(before) != restart_of(after);
  for (const Value& container : containers.items()) {
    const Value &name = container.at("name"), &variables = container.at("env");
    std::vector<std::string> keys;
    if (is_restart && name.is_text())
      keys.emplace_back(restart_reference);
    if (variables.is_list() && name.is_text())
      for (const Value& variable : variables.items())
        if (std::string key = reference_of(variable); !key.empty() && is_set(before, after, key))
          keys.push_back(std::move(key));
    if (keys.empty())
      continue;
    change.environment.push_back(name.text());
    change.environment_keys.push_back(std::move(keys));
  }
}

void change_spec(const Value& before, const Value& after, const PodChangeGates& gates,
                 PodChange& change) {
  if (!before.is_dict() || !after.is_dict()) {
    change.refusal = "spec";
    return;
  }
  if (const auto key = differing_key(before, after, {"containers"}); !key.empty()) {
    change.refusal = cat("spec.", key);
    return;
  }
  const Value &was = before.at("containers"), &is = after.at("containers");
  if (!was.is_list() || !is.is_list() || was.items().size() != is.items().size()) {
    change.refusal = "spec.containers";
    return;
  }
  for (size_t i = 0; i < is.items().size() && change.refusal.empty(); ++i)
    if (was.items()[i] != is.items()[i])
      change_container(was.items()[i], is.items()[i], cat("spec.containers[", i, "]"), gates,
                       change);
  if (!change.resources.empty() && quality_of_service(before) != quality_of_service(after))
    change.refusal = "the class of service";
}

}  // namespace

PodChange pod_change(const Value& before, const Value& after, const PodChangeGates& gates) {
  PodChange change;
  if (before == after)
    return change;
  if (!before.is_dict() || !after.is_dict()) {
    change.refusal = "template";
    return change;
  }
  if (const auto key = differing_key(before, after, {"metadata", "spec"}); !key.empty()) {
    change.refusal = key;
    return change;
  }
  if (before.at("spec") != after.at("spec"))
    change_spec(before.at("spec"), after.at("spec"), gates, change);
  change.metadata = before.at("metadata") != after.at("metadata");
  if (change.in_place() && change.metadata && gates.environment)
    find_environment(before, after, change);
  else if (change.in_place() && restart_of(before) != restart_of(after))
    change.refusal = std::string(restart_path);
  return change;
}

std::string metadata_reference(std::string_view field_path) {
  for (const std::string_view part : {"labels", "annotations"}) {
    const std::string begin = cat("metadata.", part, "['");
    if (field_path.starts_with(begin) && field_path.ends_with("']"))
      return cat(part, "/", field_path.substr(begin.size(), field_path.size() - begin.size() - 2));
  }
  return {};
}

const Value& restart_of(const Value& pod_template) {
  return pod_template.at("metadata").at("annotations").at(restart_annotation);
}

std::string_view quality_of_service(const Value& spec) {
  bool any = false, all = true;
  for (const std::string_view part : {"containers", "initContainers"}) {
    const Value& containers = spec.at(part);
    if (!containers.is_list())
      continue;
    for (const Value& container : containers.items()) {
      const Value& resources = container.at("resources");
      for (const std::string_view amount : amounts) {
        const auto limit = quantity_milli(resources.at("limits").at(amount)).value_or(0);
        // A missing request equals the limit.
        const auto request = quantity_milli(resources.at("requests").at(amount)).value_or(limit);
        any |= limit != 0 || request != 0;
        all &= limit != 0 && limit == request;
      }
    }
  }
  return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

}  // namespace fettle
