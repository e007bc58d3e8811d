#include "workloads/pods/lifecycle.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "kinds/pod.h"
#include "workloads/names.h"

namespace fettle::workloads {
namespace {

bool has_label(const PodRow& row, const Entry& label) {
  return row.labels().is_dict() && row.labels().at(label.key) == label.value;
}

/// The finalizers of a pod: those that users wrote, else those it was made with.
bool has_finalizer(const Rollout& rollout, size_t number, const Name& finalizer) {
  const auto is_in = [&](const Value& list) {
    return list.is_list() &&
           std::ranges::find(list.items(), Value(finalizer)) != list.items().end();
  };
  const Attributes& attributes = rollout.attributes(number);
  const FleetPod* pod = rollout.pod(number);
  if (const Object* marks = pod == nullptr ? nullptr : rollout.fleet.marks(*pod))
    if (const Value& own = marks->document.at("metadata").at("finalizers"); own.is_list())
      return is_in(own);
  return is_in(read_one<&Pod::finalizers>(attributes).value()) ||
         is_in(read_one<&Pod::pod_template>(attributes).at("metadata").at("finalizers"));
}

}  // namespace

bool is_hooked(const std::optional<Hook>& hook, const PodRow& row, const Rollout& rollout,
               size_t number) {
  if (!hook)
    return false;
  return std::ranges::any_of(hook->labels,
                             [&](const Entry& each) { return has_label(row, each); }) ||
         std::ranges::any_of(hook->finalizers, [&](const Name& each) {
           return has_finalizer(rollout, number, each);
         });
}

bool is_all_hooked(const std::optional<Hook>& hook, const PodRow& row, const Rollout& rollout,
                   size_t number) {
  if (!hook)
    return false;
  return std::ranges::all_of(hook->labels,
                             [&](const Entry& each) { return has_label(row, each); }) &&
         std::ranges::all_of(hook->finalizers, [&](const Name& each) {
           return has_finalizer(rollout, number, each);
         });
}

void set_lifecycle(PodEdit& edit, Lifecycle lifecycle, bool marks_not_ready, Time now) {
  edit.set_in<&Pod::labels>(label::lifecycle_state, name_of(lifecycle));
  edit.set_in<&Pod::annotations>(annotation::lifecycle_timestamp, write_moment(now));
  const bool was_marked =
      !read_one<&Pod::conditions>(edit.before()).at(condition::pod_ready).is_null();
  if (marks_not_ready || was_marked)
    edit.set_in<&Pod::conditions>(condition::pod_ready,
                                  marks_not_ready ? Value(status::no) : Value(status::yes));
}

Attributes with_lifecycle(const Attributes& attributes, Lifecycle lifecycle, bool marks_not_ready,
                          Time now) {
  PodEdit edit(attributes);
  set_lifecycle(edit, lifecycle, marks_not_ready, now);
  return edit.made();
}

void refresh_lifecycles(Rollout& rollout) {
  const Hooks& hooks = rollout.workload.hooks;
  for (size_t number = 0; number < rollout.size(); ++number) {
    const PodRow& row = rollout.rows[number];
    Lifecycle next = Lifecycle::none;
    const auto is_free = [&](const std::optional<Hook>& hook) {
      return !hook || is_all_hooked(hook, row, rollout, number);
    };
    switch (row.lifecycle) {
      case Lifecycle::preparing_normal:
        if (is_free(hooks.pre_normal))
          next = Lifecycle::normal;
        break;
      case Lifecycle::preparing_update:
        // The update was undone before it began: nothing is done to the containers.
        if (row.is_updated)
          next = is_free(hooks.in_place_update) ? Lifecycle::normal : Lifecycle::updated;
        break;
      case Lifecycle::updated:
        if (is_free(hooks.in_place_update))
          next = Lifecycle::normal;
        break;
      default:
        break;
    }
    if (next != Lifecycle::none)
      rollout.change(number, with_lifecycle(rollout.attributes(number), next, false, rollout.now));
  }
}

bool keep_prepared(Rollout& rollout, const std::function<bool(uint32_t row)>& stays, int64_t most) {
  const auto& hook = rollout.workload.hooks.pre_delete;
  // A pod that was told not to be ready any more has begun to go.
  if (hook && hook->marks_not_ready)
    return false;
  bool has_changed = false;
  for (uint32_t row = 0; row < rollout.size() && most > 0; ++row) {
    const PodRow& pod = rollout.rows[row];
    if (pod.lifecycle != Lifecycle::preparing_delete || pod.is_specified || !stays(row))
      continue;
    rollout.change(row, with_lifecycle(rollout.attributes(row), Lifecycle::preparing_normal, false,
                                       rollout.now));
    --most;
    has_changed = true;
  }
  if (has_changed)
    refresh_lifecycles(rollout);
  return has_changed;
}

namespace {

bool is_held_from_going(const Rollout& rollout, size_t number) {
  const std::optional<Hook>& hook = rollout.workload.hooks.pre_delete;
  const PodRow& row = rollout.rows[number];
  if (!row.is_deleted)
    return is_hooked(hook, row, rollout, number);
  return hook && std::ranges::any_of(hook->finalizers, [&](const Name& each) {
           return has_finalizer(rollout, number, each);
         });
}

}  // namespace

void delete_deleted(Rollout& rollout) {
  Order deleted;
  for (uint32_t row = 0; row < rollout.size(); ++row)
    if (rollout.rows[row].is_deleted)
      deleted.push_back(row);
  if (!deleted.empty())
    delete_pods(rollout, deleted);
}

bool delete_pods(Rollout& rollout, const Order& pods) {
  const std::optional<Hook>& hook = rollout.workload.hooks.pre_delete;
  std::vector<size_t> gone;
  bool has_changed = false;
  for (const uint32_t number : pods) {
    const PodRow& row = rollout.rows[number];
    if (!is_held_from_going(rollout, number)) {
      gone.push_back(number);
      continue;
    }
    if (row.lifecycle == Lifecycle::preparing_delete)
      continue;
    rollout.change(number, with_lifecycle(rollout.attributes(number), Lifecycle::preparing_delete,
                                          hook->marks_not_ready, rollout.now));
    has_changed = true;
  }
  has_changed |= !gone.empty();
  rollout.remove(std::move(gone));
  return has_changed;
}

}  // namespace fettle::workloads
