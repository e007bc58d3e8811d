#pragma once
/// The part of a node's daemon that jobs see, for all nodes of a cluster: it tells of each order that
/// the image is there. An image whose tag ends in `broken` is nowhere, and while it holds, it only
/// tells that it pulls.

#include <atomic>
#include <thread>

#include "base/rfc3339.h"
#include "base/text.h"
#include "base/wait.h"
#include "cluster/types.h"
#include "kubernetes/client.h"

namespace fettle::kubernetes {

class PlayedDaemon {
 public:
  /// `client` outlives it.
  explicit PlayedDaemon(Client& client)
      : client_(client), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void hold(bool is_held) { is_held_ = is_held; }

 private:
  void run(const std::stop_token& stop) {
    while (pause_for(10ms, stop)) {
      const auto listed = client_.list(cluster::types::node_images, {}, {}, stop);
      for (const Value& object : listed ? listed->items : std::vector<Value>())
        answer(object, stop);
    }
  }

  void answer(const Value& object, const std::stop_token& stop) {
    std::vector<Entry> statuses;
    const Value& images = object.at("spec").at("images");
    if (images.is_dict())
      for (const Entry& image : images.entries())
        statuses.push_back({image.key, Value::dict({{"tags", rows_of(image, object)}})});
    const Value wanted = Value::dict(std::move(statuses));
    const Value& now = object.at("status").at("imageStatuses");
    if (wanted == now || (now.is_null() && wanted.entries().empty()))
      return;
    const Value& metadata = object.at("metadata");
    const Value change = Value::dict(
        {{"metadata", Value::dict({{"resourceVersion", metadata.at("resourceVersion")}})},
         {"status", Value::dict({{"imageStatuses", wanted}})}});
    std::ignore =
        client_.patch(cluster::types::node_images, {"", std::string(metadata.text_at("name"))},
                      PatchType::merge, change, {.subresource = "status"}, stop);
  }

  /// A row that tells of the end stays.
  Value rows_of(const Entry& image, const Value& object) {
    std::vector<Value> rows;
    const Value& told = object.at("status").at("imageStatuses").at(image.key).at("tags");
    for (const Value& order : items_of(image.value.at("tags"))) {
      Value row;
      for (const Value& each : items_of(told))
        if (each.at("tag") == order.at("tag") && each.at("version") == order.at("version") &&
            each.find("completionTime") != nullptr)
          row = each;
      rows.push_back(row.is_null() ? row_for(order) : row);
    }
    return Value::list(std::move(rows));
  }

  Value row_for(const Value& order) {
    std::vector<Entry> entries{{"tag", order.at("tag")}, {"version", order.at("version")}};
    if (is_held_) {
      entries.push_back({"phase", "Pulling"});
      return Value::dict(std::move(entries));
    }
    const bool is_broken = order.text_at("tag").ends_with("broken");
    entries.push_back({"phase", is_broken ? "Failed" : "Succeeded"});
    entries.push_back({"completionTime", write_moment(now_from_clock())});
    if (is_broken)
      entries.push_back({"message", "there is no such image"});
    return Value::dict(std::move(entries));
  }

  Client& client_;
  std::atomic<bool> is_held_ = false;
  std::jthread thread_;  ///< ends before the other members go
};

}  // namespace fettle::kubernetes
