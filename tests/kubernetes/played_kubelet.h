#pragma once
/// The part of a kubelet that rollouts see, for all pods of a cluster: it runs what they ask for at
/// once and tells whether they are ready. A pod whose image ends in `broken` never is.

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "base/rfc3339.h"
#include "base/text.h"
#include "base/wait.h"
#include "kubernetes/client.h"

namespace fettle::kubernetes {

class PlayedKubelet {
 public:
  /// `client` outlives it.
  explicit PlayedKubelet(Client& client)
      : client_(client), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  /// The fewest pods that were ready at once since the last call.
  int take_least_ready() { return least_ready_.exchange(std::numeric_limits<int>::max()); }
  /// The same of each label `app` alone.
  std::map<std::string, int> take_least_ready_by_app() {
    const std::lock_guard lock(mutex_);
    return std::exchange(least_by_app_, {});
  }

 private:
  void run(const std::stop_token& stop) {
    while (pause_for(10ms, stop)) {
      const auto pods = client_.list(types::pods, {}, {}, stop);
      if (!pods)
        continue;
      int ready = 0;
      std::map<std::string, int> by_app;
      for (const Value& pod : pods->items) {
        const int is_ready = keep(pod, stop) ? 1 : 0;
        ready += is_ready;
        by_app[std::string(pod.at("metadata").at("labels").text_at("app"))] += is_ready;
      }
      least_ready_ = std::min<int>(least_ready_, ready);
      note(by_app);
    }
  }

  void note(const std::map<std::string, int>& by_app) {
    const std::lock_guard lock(mutex_);
    for (const auto& [app, ready] : by_app) {
      const auto at = least_by_app_.try_emplace(app, ready).first;
      at->second = std::min(at->second, ready);
    }
  }

  /// Whether it is ready, as its status says now.
  bool keep(const Value& pod, const std::stop_token& stop) {
    const Value& metadata = pod.at("metadata");
    const Value wanted = status_of(pod);
    const bool is_ready = condition(wanted, "Ready") == "True";
    if (is_told(pod.at("status"), wanted))
      return is_ready;
    const Value change = Value::dict(
        {{"metadata", Value::dict({{"uid", metadata.at("uid")},
                                   {"resourceVersion", metadata.at("resourceVersion")}})},
         {"status", wanted}});
    const auto answer = client_.patch(
        types::pods,
        {std::string(metadata.text_at("namespace")), std::string(metadata.text_at("name"))},
        PatchType::strategic, change, {.subresource = "status"}, stop);
    return answer && is_ready;
  }

  static Value status_of(const Value& pod) {
    std::vector<Value> containers;
    bool is_ready = true;
    for (const Value& container : items_of(pod.at("spec").at("containers"))) {
      const std::string image(container.text_at("image"));
      is_ready &= !image.ends_with("broken");
      containers.push_back(Value::dict({{"name", container.at("name")},
                                        {"image", image},
                                        {"imageID", cat("sha256:", image)},
                                        {"containerID", cat("c://", image)},
                                        {"restartCount", 0},
                                        {"ready", !image.ends_with("broken")},
                                        {"state", Value::dict({{"running", Value::dict({})}})}}));
    }
    for (const Value& gate : items_of(pod.at("spec").at("readinessGates")))
      is_ready &= condition(pod.at("status"), gate.text_at("conditionType")) == "True";
    return Value::dict(
        {{"phase", "Running"},
         {"podIP", "10.0.0.1"},
         {"startTime", pod.at("metadata").at("creationTimestamp")},
         {"containerStatuses", Value::list(std::move(containers))},
         {"conditions",
          Value::list({Value::dict({{"type", "Ready"},
                                    {"status", is_ready ? "True" : "False"},
                                    {"lastTransitionTime", write_moment(now_from_clock())}})})}});
  }

  static bool is_told(const Value& status, const Value& wanted) {
    return status.at("containerStatuses") == wanted.at("containerStatuses") &&
           status.at("phase") == wanted.at("phase") &&
           condition(status, "Ready") == condition(wanted, "Ready");
  }

  static std::string_view condition(const Value& status, std::string_view type) {
    for (const Value& each : items_of(status.at("conditions")))
      if (each.text_at("type") == type)
        return each.text_at("status");
    return {};
  }

  Client& client_;
  std::atomic<int> least_ready_ = std::numeric_limits<int>::max();
  std::mutex mutex_;
  std::map<std::string, int> least_by_app_;
  std::jthread thread_;  ///< ends before the other members go
};

}  // namespace fettle::kubernetes
