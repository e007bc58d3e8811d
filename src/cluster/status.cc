#include "cluster/status.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/node_images.h"
#include "cluster/pull_jobs.h"
#include "workloads/decide/status.h"
#include "workloads/names.h"

namespace fettle::cluster {
namespace {

Value with_times(const Value& condition, const Value& before, Time now) {
  const Value moment = write_moment(now);
  const bool is_same = std::ranges::all_of(
      condition.entries(), [&](const Entry& entry) { return before.at(entry.key) == entry.value; });
  const bool has_turned = before.at("status") != condition.at("status");
  std::vector<Entry> entries(condition.entries().begin(), condition.entries().end());
  entries.push_back({"lastUpdateTime", is_same ? before.at("lastUpdateTime") : moment});
  entries.push_back({"lastTransitionTime", has_turned ? moment : before.at("lastTransitionTime")});
  return Value::dict(std::move(entries));
}

/// Rows keep their places, so that nothing is written again for its order.
Value conditions_for(const std::vector<Value>& wanted, const Value& before, Time now) {
  const auto row_of = [](std::span<const Value> list, std::string_view type) {
    return std::ranges::find_if(list,
                                [&](const Value& row) { return row.text_at("type") == type; });
  };
  std::vector<Value> rows;
  for (const Value& row : items_of(before)) {
    const auto ours = row_of(wanted, row.text_at("type"));
    if (ours != std::span<const Value>(wanted).end())
      rows.push_back(with_times(*ours, row, now));
    else if (row.text_at("type") != "Progressing")
      rows.push_back(row);
  }
  for (const Value& row : wanted)
    if (row_of(rows, row.text_at("type")) == std::span<const Value>(rows).end())
      rows.push_back(with_times(row, {}, now));
  return rows.empty() ? Value() : Value::list(std::move(rows));
}

/// Whether a field is ours alone, and may have nothing to say.
bool may_go(const Name& field) {
  static constexpr std::string_view fields[] = {"reason",    "conditions",     "imagePulls",
                                                "startTime", "completionTime", "phase"};
  return std::ranges::find(fields, field.view()) != std::end(fields);
}

}  // namespace

Value status_for(const workloads::Fleet& fleet, const Name& owner, const Value& before, Time now,
                 const Value& condition) {
  const Value status = workloads::status_of(fleet, owner, now);
  if (status.is_null())
    return {};
  std::vector<Value> rows(items_of(status.at("conditions")).begin(),
                          items_of(status.at("conditions")).end());
  if (!condition.is_null())
    rows.push_back(condition);
  const Value conditions = conditions_for(rows, before.at("conditions"), now);
  const bool is_daemon_set = owner.view().starts_with("DaemonSet/");
  std::vector<Entry> entries;
  for (const Entry& entry : status.entries())
    if (entry.key != "conditions" && !(is_daemon_set && entry.key == "updateRevision"))
      entries.push_back(entry);
  if (!conditions.is_null())
    entries.push_back({"conditions", conditions});
  // A DaemonSet's revisions go by their hash, in `v1alpha1` under another name. OpenKruise's schema
  // refuses a status without it.
  if (is_daemon_set)
    for (const char* key : {"updateRevision", "daemonSetHash"})
      entries.push_back({key, workloads::hash_of_revision(status.text_at("updateRevision"))});
  return Value::dict(std::move(entries));
}

Value status_for_job(const workloads::Fleet& fleet, const Value& object) {
  const ObjectMeta meta = meta_of(object);
  const Name owner = workload_of_job(meta);
  const workloads::Object* const workload = owner.empty() ? nullptr : fleet.object(owner);
  const bool is_ours =
      workload != nullptr && meta.controller && meta.controller->uid == workload->uid;
  return is_ours ? workloads::status_of_job(fleet, owner, cat(meta.space, "/", meta.name))
                 : Value();
}

Value status_change(const Value& object, const Value& wanted, const std::set<Name>& dropped) {
  std::vector<Entry> changed = changed_entries(object.at("status"), wanted);
  std::erase_if(changed, [&](const Entry& each) {
    return each.value.is_null() ? !may_go(each.key) : dropped.contains(each.key);
  });
  if (changed.empty())
    return {};
  const ObjectMeta meta = meta_of(object);
  return Value::dict(
      {{"metadata", Value::dict({{"uid", meta.uid}, {"resourceVersion", meta.version}})},
       {"status", Value::dict(std::move(changed))}});
}

std::set<Name> dropped_fields(const Value& change, const Value& answer) {
  std::set<Name> dropped;
  if (change.at("status").is_dict())
    for (const Entry& entry : change.at("status").entries())
      if (!entry.value.is_null() && answer.at("status").find(entry.key) == nullptr)
        dropped.insert(entry.key);
  return dropped;
}

workloads::Node read_node(const Value& object) {
  workloads::Node node;
  node.name = object.at("metadata").text_at("name");
  node.labels = object.at("metadata").at("labels");
  node.taints = object.at("spec").at("taints");
  node.pulls_ahead = !is_virtual(object);
  return node;
}

}  // namespace fettle::cluster
