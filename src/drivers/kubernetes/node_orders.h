#pragma once
/// Tells nodes of a cluster what to pull: acts on images become orders in NodeImages.
///
/// A thousand nodes that are to pull three images each get three thousand acts. One write for each
/// would cost three times what the server has to bear, so the orders of a node are gathered: the
/// first call of an act only leaves its order here and asks to be called again soon. Whichever act of
/// that node is called again first writes all orders that wait there by then, and the others find
/// that theirs is written. An act that waits holds neither a thread nor a slot of its run, so all
/// acts that are due have left their orders before the first write.
///
/// An order that nobody asks for again is written with the next one of its node, or never. It does
/// no harm: the job that it names is looked up again before it is written.

#include <map>
#include <mutex>
#include <unordered_map>

#include "cluster/node_images.h"
#include "core/driver.h"
#include "kubernetes/object_cache.h"

namespace fettle {

class NodeOrders {
 public:
  /// Both outlive it.
  NodeOrders(kubernetes::Client& client, kubernetes::ObjectCache& objects)
      : client_(client), objects_(objects) {}

  /// One call of an act that makes or changes an order.
  Result<Outcome> keep(const Act& act, Time now, const std::stop_token& stop);
  /// Whether the node has the order with these attributes.
  bool is_there(const Attributes& attributes) const;

 private:
  enum class Stage { waiting, writing, written };
  struct Order {
    Attributes attributes;
    Stage stage = Stage::waiting;
    std::optional<kubernetes::ApiError> refusal{};
  };
  using Orders = std::unordered_map<Key, Order, KeyHash>;

  /// What the act has to wait for. None: the orders of the node that wait, `due`, are to be written
  /// now.
  std::optional<Outcome> leave(const Act& act, const Name& node, Orders& due);
  /// What has become of an order, if that is known.
  std::optional<Result<Outcome>> take_end(const Act& act, const Name& node);
  void write(const Name& node, const Orders& due, Time now, const std::stop_token& stop);
  kubernetes::ApiResult<Value> send(const kubernetes::ObjectName& node,
                                    std::span<const cluster::WantedOrder> orders, Time now,
                                    const std::stop_token& stop);
  Value job_called(const Image& image) const;
  Value job_of(const Image& image) const;
  void end(const Name& node, const Orders& due, const kubernetes::ApiResult<Value>& answer);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  std::mutex mutex_;
  std::map<Name, Orders> by_node_;
};

}  // namespace fettle
