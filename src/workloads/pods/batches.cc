#include "workloads/pods/batches.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/names.h"
#include "workloads/rollout.h"

namespace fettle::workloads {
namespace {

using Names = std::set<Name>;

/// Containers that take the same changed key change together, and each may add others.
void add_sharers(const PodChange& change, Names& batch) {
  for (bool grows = true; grows;) {
    grows = false;
    std::set<std::string> keys;
    for (size_t i = 0; i < change.environment.size(); ++i)
      if (batch.contains(change.environment[i]))
        keys.insert(change.environment_keys[i].begin(), change.environment_keys[i].end());
    for (size_t i = 0; i < change.environment.size(); ++i) {
      const bool shares = std::ranges::any_of(
          change.environment_keys[i], [&](const std::string& key) { return keys.contains(key); });
      grows |= shares && batch.insert(change.environment[i]).second;
    }
  }
}

/// Labels and annotations that only later containers take stay as they were.
Value mixed_metadata(const Value& before, const Value& after, const std::set<std::string>& kept) {
  Value mixed = after;
  for (const std::string& key : kept) {
    const size_t slash = key.find('/');
    const std::string part = key.substr(0, slash), name = key.substr(slash + 1);
    mixed = edited(mixed, {{part, edited(mixed.at(part), {{name, before.at(part).at(name)}})}});
  }
  return mixed;
}

Value mixed_containers(const Value& before, const Value& after, const Names& later) {
  std::vector<Value> containers;
  for (size_t i = 0; i < after.items().size(); ++i) {
    const Value &was = before.items()[i], &is = after.items()[i];
    containers.push_back(
        later.contains(Name(is.text_at("name")))
            ? edited(is, {{"image", was.at("image")}, {"resources", was.at("resources")}})
            : is);
  }
  return Value::list(std::move(containers));
}

std::vector<Name> those_in(const std::vector<Name>& names, const Names& batch) {
  std::vector<Name> found;
  for (const Name& name : names)
    if (batch.contains(name))
      found.push_back(name);
  return found;
}

/// Whether a resize restarts a container (`resizePolicy`).
bool resize_restarts(const Value& pod_template, const std::vector<Name>& containers) {
  for (const Value& container : pod_template.at("spec").at("containers").items()) {
    if (std::ranges::find(containers, Name(container.text_at("name"))) == containers.end())
      continue;
    if (const Value& policies = container.at("resizePolicy"); policies.is_list())
      for (const Value& policy : policies.items())
        if (policy.text_at("restartPolicy") == "RestartContainer")
          return true;
  }
  return false;
}

}  // namespace

Step next_step(const Value& before, const Value& after, const PodChange& change) {
  Step step;
  step.pod_template = after;
  step.images = change.images;
  step.environment = change.environment;
  step.resources = change.resources;
  Names all(change.images.begin(), change.images.end());
  all.insert(change.environment.begin(), change.environment.end());
  all.insert(change.resources.begin(), change.resources.end());
  const std::map<Name, int64_t> priorities = launch_priorities(after);
  std::optional<int64_t> highest;
  for (const Name& name : all)
    if (const auto found = priorities.find(name); found != priorities.end())
      highest = std::max(found->second, highest.value_or(found->second));
  Names batch;
  for (const Name& name : all)
    if (const auto found = priorities.find(name);
        found == priorities.end() || found->second == highest)
      batch.insert(name);
  add_sharers(change, batch);
  if (batch.size() < all.size()) {
    Names later;
    std::ranges::set_difference(all, batch, std::inserter(later, later.end()));
    std::set<std::string> kept;
    for (size_t i = 0; i < change.environment.size(); ++i)
      if (later.contains(change.environment[i]))
        kept.insert(change.environment_keys[i].begin(), change.environment_keys[i].end());
    step.is_last = false;
    step.images = those_in(change.images, batch);
    step.environment = those_in(change.environment, batch);
    step.resources = those_in(change.resources, batch);
    const Value containers = mixed_containers(before.at("spec").at("containers"),
                                              after.at("spec").at("containers"), later);
    step.pod_template = edited(
        after, {{"metadata", mixed_metadata(before.at("metadata"), after.at("metadata"), kept)},
                {"spec", edited(after.at("spec"), {{"containers", containers}})}});
  }
  const bool is_resize = step.images.empty() && step.environment.empty() &&
                         !step.resources.empty() && !change.metadata;
  step.disturbs = !is_resize || resize_restarts(after, step.resources);
  return step;
}

const PodChange& Steps::change(const Value& before, const Value& after) {
  const auto key = std::pair(before.digest(), after.digest());
  const auto found = changes_.find(key);
  return found != changes_.end()
             ? found->second
             : changes_.emplace(key, pod_change(before, after, gates_)).first->second;
}

const Step& Steps::next(const Value& before, const Value& after) {
  const auto key = std::pair(before.digest(), after.digest());
  const auto found = steps_.find(key);
  return found != steps_.end()
             ? found->second
             : steps_.emplace(key, next_step(before, after, change(before, after))).first->second;
}

}  // namespace fettle::workloads
