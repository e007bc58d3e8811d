#include "verbs/fleet/pod_document.h"

#include <algorithm>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/pod.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

/// The reason why the missing containers of a pod have to wait.
struct Delay {
  std::string_view reason;  ///< `ContainerCreating`
  std::string error;        ///< why the pod's act failed, if it did
  Value image_error;        ///< about an image that is not there; null: none
};

/// The row of a container that has not begun, as a kubelet writes it.
Value waiting_row(const Value& container, const Delay& delay) {
  const bool lacks_image =
      !delay.image_error.is_null() && delay.image_error.at("image") == container.at("image");
  std::vector<Entry> waiting{
      {"reason", lacks_image ? delay.image_error.at("reason") : Value(delay.reason)}};
  if (lacks_image)
    waiting.push_back({"message", delay.error});
  return Value::dict({{"name", container.at("name")},
                      {"image", container.at("image")},
                      {"ready", false},
                      {"started", false},
                      {"restartCount", 0},
                      {"state", Value::dict({{"waiting", Value::dict(std::move(waiting))}})}});
}

/// The statuses of all containers of one part of the spec, in its order.
Value whole_rows(const Value& containers, const Value& rows, const Delay& delay) {
  std::vector<Value> all;
  for (const Value& container : items_of(containers)) {
    const auto found = std::ranges::find_if(
        items_of(rows), [&](const Value& row) { return row.at("name") == container.at("name"); });
    all.push_back(found == items_of(rows).end() ? waiting_row(container, delay) : *found);
  }
  return Value::list(std::move(all));
}

Value whole_status(const Value& status, const Value& spec, const std::string& error,
                   const Value& image_error) {
  const bool has_init = !items_of(spec.at("initContainers")).empty();
  const Delay delay{has_init ? "PodInitializing" : "ContainerCreating", error, image_error};
  std::vector<Entry> more{{"containerStatuses", whole_rows(spec.at("containers"),
                                                           status.at("containerStatuses"), delay)}};
  if (has_init)
    more.push_back(
        {"initContainerStatuses",
         whole_rows(spec.at("initContainers"), status.at("initContainerStatuses"), delay)});
  return workloads::edited(status, std::move(more));
}

/// Whether nobody knows about the pod: it could not be looked at, or it was made and is not there.
bool is_unknown(const Record& record, const Observation* seen) {
  return seen == nullptr || !seen->unavailable.empty() || (record.applied && !seen->state);
}

Value status_of(const Record& record, const Observation* seen, const Value& spec) {
  if (is_unknown(record, seen))
    return Value::dict({{"phase", "Unknown"}});
  const bool has_failed = !record.applied && record.attempt && record.attempt->failed;
  const std::string error = has_failed ? record.attempt->error : std::string();
  const Value status = whole_status(
      seen->state ? dict_of(*seen->state) : Value::dict({{"phase", "Pending"}}), spec, error,
      has_failed ? read_one<&PodOutputs::image_error>(record.outputs) : Value());
  return has_failed ? workloads::edited(status, {{"message", error}}) : status;
}

/// The state of a container in one word. Empty: it runs.
std::string reason_of(const Value& row) {
  if (row.bool_at("backOff"))
    return "CrashLoopBackOff";
  const Value &waiting = row.at("state").at("waiting"), &ended = row.at("state").at("terminated");
  if (waiting.is_dict())
    return std::string(waiting.text_at("reason"));
  if (!ended.is_dict())
    return {};
  const std::string reason(ended.text_at("reason"));
  return reason.empty() ? cat("ExitCode:", ended.integer_at("exitCode")) : reason;
}

bool is_sidecar(const Value& spec, std::string_view name) {
  return std::ranges::any_of(items_of(spec.at("initContainers")), [&](const Value& container) {
    return container.text_at("name") == name && container.text_at("restartPolicy") == "Always";
  });
}

/// Describes a pod whose init containers have not all ended. Empty: they have.
std::string init_text(const Value& spec, const Value& status) {
  const auto rows = items_of(status.at("initContainerStatuses"));
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_over = is_sidecar(spec, rows[i].text_at("name")) ? rows[i].bool_at("started")
                                                                   : rows[i].bool_at("ready");
    if (is_over)
      continue;
    const std::string reason = reason_of(rows[i]);
    return reason.empty() || reason == "PodInitializing" ? cat("Init:", i, "/", rows.size())
                                                         : cat("Init:", reason);
  }
  return {};
}

bool is_ready(const Value& status) {
  return std::ranges::any_of(items_of(status.at("conditions")), [](const Value& condition) {
    return condition.text_at("type") == "Ready" && condition.text_at("status") == "True";
  });
}

}  // namespace

Value pod_document(const Key& key, const Record& record, const Observation* seen) {
  const Resource& then = *resource_of_then(record);
  const Value spec = pod_spec(then.attributes);
  const PodOutputs outputs = read<PodOutputs>(record.outputs);
  std::vector<Entry> metadata{{"name", read_one<&Pod::name>(then.attributes).value()},
                              {"namespace", node_address(key.name).space},
                              {"uid", record.outputs.is_null() ? Value() : Value(outputs.uid)},
                              {"creationTimestamp", outputs.started},
                              {"labels", pod_labels(then.attributes)},
                              {"annotations", pod_annotations(then.attributes)}};
  if (record.attempt) {
    const std::string began = to_string(record.attempt->started);
    if (!record.applied)
      metadata.push_back({"creationTimestamp", began});
    if (record.attempt->verb == Verb::remove)
      metadata.push_back({"deletionTimestamp", began});
  }
  return Value::dict({{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", Value::dict(std::move(metadata))},
                      {"spec", spec},
                      {"status", status_of(record, seen, spec)}});
}

PodRowText pod_row_text(const Value& document) {
  const Value &spec = document.at("spec"), &status = document.at("status");
  PodRowText text;
  text.status = status.text_at("phase");
  size_t ready = 0, all = 0;
  int64_t init_restarts = 0;
  const auto count = [&](const Value& row) {
    ++all;
    ready += row.bool_at("ready") ? 1 : 0;
    text.restarts += row.integer_at("restartCount");
  };
  for (const Value& row : items_of(status.at("initContainerStatuses"))) {
    init_restarts += row.integer_at("restartCount");
    if (is_sidecar(spec, row.text_at("name")))
      count(row);
  }
  std::string reason;
  bool is_any_running = false;
  for (const Value& row : items_of(status.at("containerStatuses"))) {
    count(row);
    const std::string own = reason_of(row);
    if (reason.empty())
      reason = own;
    is_any_running |= own.empty() && row.bool_at("ready");
  }
  if (text.status == "Unknown") {
    text.ready = cat(0, "/", items_of(spec.at("containers")).size());
    return text;
  }
  // A kubelet that has not begun has not said anything of them.
  if (items_of(status.at("containerStatuses")).empty())
    all += items_of(spec.at("containers")).size();
  text.ready = cat(ready, "/", all);
  if (!document.at("metadata").at("deletionTimestamp").is_null()) {
    text.status = "Terminating";
  } else if (std::string init = init_text(spec, status); !init.empty()) {
    text.status = std::move(init);
    text.restarts = init_restarts;
  } else if (reason == "Completed" && is_any_running) {
    text.status = is_ready(status) ? "Running" : "NotReady";
  } else if (!reason.empty()) {
    text.status = std::move(reason);
  }
  return text;
}

}  // namespace fettle
