#pragma once
/// Tells nodes of a cluster what to pull: acts on images become orders in NodeImages.
///
/// A thousand nodes that are to pull three images each get three thousand acts. One write for each
/// would cost three times what the server has to bear, so the orders of a node are gathered: the
/// first call of an act only leaves its order here and asks to be called again soon. An act that
/// waits holds neither a thread nor a slot of its run, so the others come and leave theirs. When for
/// a moment nobody has left one, whichever act is called again first writes all orders of its node,
/// and the others of that node find that theirs are written.
///
/// Invariants: of a node there is one write at a time; an order waits two seconds at most for those
/// that come after it; nothing is written for a job that is not there.
///
/// An order that nobody asks for again is written with the next one of its node, or never, and is
/// forgotten after ten minutes.

#include <map>
#include <mutex>
#include <unordered_map>

#include "cluster/node_images.h"
#include "core/driver.h"
#include "drivers/kubernetes/secret_copier.h"
#include "kubernetes/object_cache.h"

namespace fettle {

class NodeOrders {
 public:
  /// All outlive it. `copies`: of Secrets, for OpenKruise's daemon; null: it does not pull here.
  NodeOrders(kubernetes::Client& client, kubernetes::ObjectCache& objects,
             cluster::SecretCopies* copies = nullptr)
      : client_(client), objects_(objects), copier_(client, objects, copies) {}

  /// One call of an act that makes or changes an order.
  Result<Outcome> keep(const Act& act, Moment now, const std::stop_token& stop);
  /// Whether the node has the order with these attributes.
  bool is_there(const Attributes& attributes) const;

 private:
  enum class Stage { waiting, writing, written };
  struct Order {
    Attributes attributes;
    Instant left{};
    Stage stage = Stage::waiting;
    std::optional<kubernetes::ApiError> refusal{};
  };
  using Orders = std::unordered_map<Key, Order, KeyHash>;

  /// What the act has to wait for. None: the orders of the node that wait, `due`, are to be written
  /// now.
  std::optional<Outcome> leave(const Act& act, const Name& node, Instant now, Orders& due);
  void put(Orders& orders, const Act& act, Instant now);
  void drop_abandoned(Instant now);
  bool may_write(const Orders& orders, const Order& own, Instant now) const;
  Outcome later() const;
  /// What has become of an order, if that is known.
  std::optional<Result<Outcome>> take_end(const Act& act, const Name& node);
  void write(const Name& node, const Orders& due, const Moment& now, const std::stop_token& stop);
  kubernetes::ApiResult<Value> send(const kubernetes::ObjectName& node,
                                    std::span<const cluster::WantedOrder> orders, Time now,
                                    const std::stop_token& stop);
  Value job_called(const Image& image) const;
  Value job_of(const Image& image) const;
  void end(const Name& node, const Orders& due, const kubernetes::ApiResult<Value>& answer);

  kubernetes::Client& client_;
  kubernetes::ObjectCache& objects_;
  SecretCopier copier_;
  std::mutex mutex_;
  std::map<Name, Orders> by_node_;
  size_t waiting_ = 0;  ///< orders that are to be written, of all nodes
  Instant last_left_{}, last_dropped_{};
};

}  // namespace fettle
