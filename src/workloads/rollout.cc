#include "workloads/rollout.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

bool has_ended(const FleetPod& pod) {
  return pod.phase == Phase::failed || pod.phase == Phase::succeeded;
}

/// The places where a PodSpec names a ConfigMap or a Secret: below `volumes`, in `env` and
/// `envFrom`, and as credentials for pulls.
void add_names(const Value& spec, std::map<Name, bool>& names) {
  const auto add = [&](std::string_view kind, const Value& name) {
    if (name.is_text() && !name.text().empty())
      names[cat(kind, "/", name.text())] = true;
  };
  const auto each = [](const Value& list, const auto& function) {
    if (list.is_list())
      for (const Value& item : list.items())
        function(item);
  };
  each(spec.at("imagePullSecrets"), [&](const Value& item) { add("Secret", item.at("name")); });
  each(spec.at("volumes"), [&](const Value& volume) {
    add("ConfigMap", volume.at("configMap").at("name"));
    add("Secret", volume.at("secret").at("secretName"));
    each(volume.at("projected").at("sources"), [&](const Value& source) {
      add("ConfigMap", source.at("configMap").at("name"));
      add("Secret", source.at("secret").at("name"));
    });
  });
  for (const char* part : {"containers", "initContainers"})
    each(spec.at(part), [&](const Value& container) {
      each(container.at("envFrom"), [&](const Value& from) {
        add("ConfigMap", from.at("configMapRef").at("name"));
        add("Secret", from.at("secretRef").at("name"));
      });
      each(container.at("env"), [&](const Value& variable) {
        add("ConfigMap", variable.at("valueFrom").at("configMapKeyRef").at("name"));
        add("Secret", variable.at("valueFrom").at("secretKeyRef").at("name"));
      });
    });
}

}  // namespace

namespace {

bool has_lesser_key(const Entry& a, const Entry& b) { return a.key.view() < b.key.view(); }

/// `keeps_null`: for the entries that were there before.
Value with_changes(const Value& dict, std::vector<Entry> changes, bool keeps_null) {
  const std::span<const Entry> before = dict.is_dict() ? dict.entries() : std::span<const Entry>();
  // There are few, mostly in order: this is cheaper than a sort that asks for memory.
  for (auto each = changes.begin(); each != changes.end(); ++each)
    std::rotate(std::upper_bound(changes.begin(), each, *each, has_lesser_key), each, each + 1);
  std::vector<Entry> kept;
  kept.reserve(before.size() + changes.size());
  const auto put_before = [&](const Entry& entry) {
    if (keeps_null || !entry.value.is_null())
      kept.push_back(entry);
  };
  size_t next = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    const Name& key = changes[i].key;
    if (i + 1 < changes.size() && changes[i + 1].key == key)
      continue;  // the last one counts
    while (next < before.size() && before[next].key < key)
      put_before(before[next++]);
    if (next < before.size() && before[next].key == key)
      ++next;
    if (!changes[i].value.is_null())
      kept.push_back(changes[i]);
  }
  while (next < before.size())
    put_before(before[next++]);
  return Value::dict(std::move(kept));
}

}  // namespace

Value edited(const Value& dict, std::vector<Entry> changes) {
  return with_changes(dict, std::move(changes), false);
}

Value edited_within(const Value& dict, std::vector<Entry> changes) {
  return with_changes(dict, std::move(changes), true);
}

Rollout::Rollout(const Fleet& fleet_, const Workload& workload_, Time now_)
    : fleet(fleet_),
      workload(workload_),
      owner(workload_.owner()),
      now(now_),
      owned(fleet_.owned(owner)) {
  rows.reserve(owned.pods.size());
  pods_.reserve(owned.pods.size());
  changes_.reserve(owned.pods.size());
  find_revisions();
  const bool has_nodes = !fleet.nodes().empty() && !fleet.is_cluster;
  const bool begins_anew =
      fleet.is_cluster && !owned.pods.empty() &&
      std::exchange(owned.endings.generation, workload.generation) != workload.generation;
  if (begins_anew)
    owned.endings.rows.clear();
  for (const FleetPod* pod : owned.pods) {
    // What has ended, and what was on a node that is gone, is made anew elsewhere.
    const bool is_lost = has_nodes && fleet.node_at(pod->node_number) == nullptr;
    if (begins_anew)
      pod->anew_at = Time();
    if (!pod->is_leaving && !has_ended(*pod) && !is_lost)
      add_row(pod);
    else if (!pod->is_leaving && has_ended(*pod) && fleet.is_cluster)
      add_ended(*pod);
  }
}

/// A kubelet that refuses a pod refuses the next one as well, and to make one after another would
/// take the requests of everybody.
void Rollout::add_ended(const FleetPod& pod) {
  if (pod.anew_at == Time())
    pod.anew_at = owned.endings.end_one(workload.sort == WorkloadSort::clone_set    ? Name()
                                        : workload.sort == WorkloadSort::daemon_set ? pod.node
                                                                                    : pod.name,
                                        now);
  if (pod.anew_at <= now || pod.is_specified || pod.is_deleted)
    return;
  ask_at(pod.anew_at);
  ended_.push_back(&pod);
}

void Rollout::keep_ended(const std::function<bool(const FleetPod&)>& is_needed) {
  std::erase_if(ended_, [&](const FleetPod* pod) { return !is_needed(*pod); });
}

void Rollout::add_row(const FleetPod* pod) {
  pods_.push_back(pod);
  changes_.emplace_back();
  rows.emplace_back();
  read_row(rows.size() - 1);
}

const Attributes& Rollout::attributes(size_t row) const {
  return is_changed(row) ? changes_[row]->attributes : pods_[row]->resource->attributes;
}

uint32_t Rollout::template_number(Digest pod_template) {
  if (templates_.empty() || pod_template != last_template_) {
    last_template_ = pod_template;
    last_template_number_ =
        templates_.try_emplace(pod_template, static_cast<uint32_t>(templates_.size()))
            .first->second;
  }
  return last_template_number_;
}

uint16_t Rollout::revision_number(std::string_view name) const {
  size_t number = 0;
  while (number < revisions.size() && revisions[number].name != name)
    ++number;
  return static_cast<uint16_t>(number);
}

/// Of a pod as the fleet has it. Whether one of its conditions is to be False.
bool Rollout::read_known(PodRow& row, const FleetPod& pod) {
  static const Digest no_configs = Value().digest();
  row.tag = &pod;
  row.lifecycle = pod.lifecycle;
  row.deletion_cost = pod.deletion_cost;
  row.is_specified = pod.is_specified;
  row.is_updating = pod.is_updating;
  row.template_number = template_number(pod.template_digest);
  row.revision_number = last_revision_ != nullptr && pod.revision == *last_revision_
                            ? last_revision_number_
                            : revision_number(pod.revision);
  last_revision_ = &pod.revision;
  last_revision_number_ = row.revision_number;
  row.is_plain = !pod.has_sidecars() && !pod.is_marked && pod.configs_digest == no_configs;
  return pod.is_held;
}

/// Of one that is changed or made here.
bool Rollout::read_changed(PodRow& row, const FleetPod* pod, const Attributes& attributes) {
  const Name node = pod == nullptr ? read_one<&Pod::node>(attributes).get() : pod->node;
  row.tag = &tags_.emplace_back(
      PodTag{read_one<&Pod::name>(attributes).get(), node, pod_labels(attributes)});
  row.lifecycle = lifecycle_of(row.labels().text_at(label::lifecycle_state));
  row.deletion_cost = pod == nullptr ? 0 : pod->deletion_cost;
  row.is_specified = row.labels().text_at(label::specified_delete) == "true" ||
                     (pod != nullptr && pod->is_specified);
  row.is_updating = !memory_of_pod(attributes).update.is_null();
  row.template_number = template_number(read_one<&Pod::pod_template>(attributes).value().digest());
  row.revision_number = revision_number(read_one<&Pod::revision>(attributes).get());
  row.is_plain = false;
  bool is_held = false;
  const Dict conditions = read_one<&Pod::conditions>(attributes);
  for (const Entry& entry : conditions.entries())
    is_held |= entry.value == Value("False");
  return is_held;
}

/// The readiness of a pod whose attributes may have changed by now.
Readiness Rollout::readiness_of(size_t row, bool is_held) const {
  const FleetPod& pod = *pods_[row];
  if (is_held)
    return Readiness::not_ready;
  const bool is_due = is_changed(row) && pod.acted &&
                      may_change_readiness(pod.acted->attributes, changes_[row]->attributes);
  return is_due ? Readiness::unseen : workloads::readiness_of(fleet, pod);
}

void Rollout::read_row(size_t number) {
  PodRow& row = rows[number];
  const FleetPod* pod = pods_[number];
  const bool is_held = is_changed(number) ? read_changed(row, pod, changes_[number]->attributes)
                                          : read_known(row, *pod);
  row.is_updated = row.revision_number == update_index;
  for (const Name& name : workload.pods_to_delete)
    row.is_specified |= name == row.name();
  if (pod == nullptr)
    return;
  const Node* const node = fleet.node_at(pod->node_number);
  row.is_deleted = pod->is_deleted;
  row.is_specified |= pod->is_deleted || (node != nullptr && node->is_draining);
  row.node_number = pod->node_number;
  row.phase = pod->phase;
  row.restarts = pod->restarts;
  row.created = pod->created;
  row.ready_since = pod->ready_since;
  row.readiness = readiness_of(number, is_held);
  const bool is_settled = row.lifecycle == Lifecycle::none || row.lifecycle == Lifecycle::normal;
  row.is_available = row.is_ready() && is_settled;
  if (row.is_available && workload.min_ready_seconds > 0) {
    const Time since = row.ready_since + std::chrono::seconds(workload.min_ready_seconds);
    row.is_available = since <= now;
    if (!row.is_available)
      ask_at(since);
  }
}

void Rollout::change(size_t row, Attributes attributes) {
  if (attributes == this->attributes(row))
    return;
  if (!is_changed(row))
    changes_[row] = pods_[row]->resource;
  // A change that is undone before anybody heard of it is none.
  if (pods_[row] != nullptr && attributes == pods_[row]->resource->attributes)
    changes_[row].reset();
  else
    changes_[row].edit().attributes = std::move(attributes);
  read_row(row);
}

Name Rollout::driver_of(std::string_view node) const {
  return node.empty() ? fleet.driver : Name(cat(fleet.driver, "@", node));
}

void Rollout::create(const Name& node, Pod pod) {
  Resource resource;
  pod.node = node;
  const std::string_view space = pod.space.view();
  const Name key_node = fleet.is_cluster ? Name() : node;
  resource.key = {fleet.environment(), "pod", node_name_of(key_node, space, pod.name.view())};
  resource.driver = driver_of(key_node);
  for (const Entry& entry : pod.claims.entries()) {
    Need need;
    need.keys.push_back(
        {fleet.environment(), "claim", node_name_of(key_node, space, to_text(entry.value))});
    resource.needs.push_back(std::move(need));
  }
  resource.attributes = write(pod);
  pods_.push_back(nullptr);
  changes_.emplace_back(std::move(resource));
  rows.emplace_back();
  read_row(rows.size() - 1);
}

void Rollout::remove(std::vector<size_t> gone) {
  std::ranges::sort(gone);
  size_t kept = 0, next = 0;
  for (size_t row = 0; row < size(); ++row) {
    if (next < gone.size() && gone[next] == row) {
      while (next < gone.size() && gone[next] == row)
        ++next;
      continue;
    }
    if (kept != row) {
      rows[kept] = std::move(rows[row]);
      pods_[kept] = pods_[row];
      changes_[kept] = std::move(changes_[row]);
    }
    ++kept;
  }
  rows.resize(kept);
  pods_.resize(kept);
  changes_.resize(kept);
}

Value Rollout::configs_for(const Value& pod_template, const Value& sidecars) {
  const Digest digest = sidecars.is_list() ? combine(pod_template.digest(), sidecars.digest())
                                           : pod_template.digest();
  if (const auto found = configs_.find(digest); found != configs_.end())
    return found->second;
  std::map<Name, bool> names;
  add_names(pod_template.at("spec"), names);
  if (sidecars.is_list())
    for (const Value& sidecar : sidecars.items())
      add_names(sidecar, names);
  std::vector<Entry> entries;
  for (const auto& [name, is_named] : names) {
    const size_t slash = name.view().find('/');
    const Object* object = fleet.object(
        cat(name.view().substr(0, slash), "/", workload.space, "/", name.view().substr(slash + 1)));
    if (object == nullptr)
      continue;
    const Value data = edited(object->document.at("data"), [&] {
      const Value& more = object->document.at("binaryData");
      return more.is_dict() ? std::vector<Entry>(more.entries().begin(), more.entries().end())
                            : std::vector<Entry>();
    }());
    entries.push_back({name, data});
  }
  const Value configs = entries.empty() ? Value() : Value::dict(std::move(entries));
  configs_.emplace(digest, configs);
  return configs;
}

Name Rollout::life() const {
  const Object* const stored = fleet.is_cluster ? fleet.object(owner) : nullptr;
  return stored == nullptr ? Name() : stored->uid;
}

Name Rollout::in_space(std::string_view name) const { return cat(workload.space, "/", name); }

void Rollout::tell(std::string_view reason, std::string_view about, std::string text,
                   std::string_view type) {
  const std::string object = cat(workload.space, "/", to_string(workload.sort), "/", workload.name);
  const Name name = cat(object, "|", reason, "|", about);
  if (said_.insert(name).second)
    emit("notice", name,
         Value::dict({{"type", type}, {"reason", reason}, {"object", object}, {"text", text}}));
}

void Rollout::lack_room(std::string_view pod, const std::string& why, bool is_soon) {
  waits_for_room_ = true;
  if (!is_soon)
    tell("FailedScheduling", pod, why, "Warning");
}

void Rollout::emit(std::string_view kind, const Name& name, Attributes attributes,
                   const Name& driver, const Name& pool, std::optional<Leftover> leftover) {
  Resource resource;
  resource.key = {fleet.environment(), kind, name};
  resource.attributes = std::move(attributes);
  resource.driver = driver.empty() ? fleet.driver : driver;
  resource.pool = pool;
  resource.leftover = leftover;
  others_.emplace_back(std::move(resource));
}

Value Rollout::shared(Value value) {
  return shared_.try_emplace(value.digest(), std::move(value)).first->second;
}

void Rollout::ask_at(Time time) {
  if (!ask_ || time < *ask_)
    ask_ = time;
}

void Rollout::remember(std::string_view field, const Value& value) {
  memory_ = edited(memory_, {{Name(field), value}});
}

/// Emits notices again that were to be given once and have not been given yet.
void Rollout::emit_unsaid() {
  for (const auto& [name, memory] : owned.notices)
    if (!memory.is_done && !said_.contains(name))
      emit("notice", name, memory.resource->attributes);
}

Wanted Rollout::finish(bool expired) {
  emit_unsaid();
  emit_revisions();
  Wanted wanted;
  wanted.ask = ask_;
  wanted.is_expired = expired;
  wanted.waits_for_room = waits_for_room_;
  wanted.owner = owner;
  wanted.pools = std::move(pools_);
  wanted.resources = std::move(others_);
  wanted.resources.reserve(wanted.resources.size() + size() + ended_.size());
  wanted.pods.reserve(size() + ended_.size());
  // In the order of the fleet, and new ones behind.
  auto ended = ended_.begin();
  const auto add_ended_before = [&](const FleetPod* pod) {
    for (; ended != ended_.end() &&
           (pod == nullptr || (*ended)->resource->key.name < pod->resource->key.name);
         ++ended) {
      wanted.resources.push_back((*ended)->resource);
      wanted.pods.push_back(*ended);
    }
  };
  for (size_t row = 0; row < size(); ++row) {
    add_ended_before(pods_[row]);
    wanted.resources.push_back(is_changed(row) ? std::move(changes_[row]) : pods_[row]->resource);
    wanted.pods.push_back(pods_[row]);
  }
  add_ended_before(nullptr);
  return wanted;
}

}  // namespace fettle::workloads
