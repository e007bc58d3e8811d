#include "drivers/kubernetes/node_orders.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/types.h"
#include "drivers/kubernetes/refusal.h"
#include "value/with.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::ApiResult;
using kubernetes::ObjectName;
namespace types = cluster::types;

constexpr Duration gathering_pause = 50ms;  ///< of an act whose order waits for others,
constexpr Duration pause_for_each = 200us;  ///< and more for each that waits by then
constexpr Duration quiet = 20ms;            ///< without a new one: all have come
constexpr Duration longest_gathering = 2s;
constexpr Duration longest_memory = 10min;  ///< of an order whose act is not called any more
constexpr int most_order_tries = 5;         ///< of a write between those of a daemon

ObjectName object_of(const Name& node) { return {{}, node.str()}; }

Outcome told(bool changed) { return Done{.outputs = Value::dict({}), .changed = changed}; }

}  // namespace

/// Null: there is none.
Value NodeOrders::job_called(const Image& image) const {
  const std::vector<std::string_view> parts = split(image.job.view(), '/');
  if (parts.size() != 2)
    return {};
  return objects_.find(types::pull_jobs.kind, {std::string(parts[0]), std::string(parts[1])});
}

/// Null: it is not there, is going, or asks for another image.
Value NodeOrders::job_of(const Image& image) const {
  Value job = job_called(image);
  const bool is_it = !cluster::meta_of(job).is_leaving &&
                     job.at("spec").text_at("image") == image.reference.view();
  return is_it ? job : Value();
}

bool NodeOrders::is_there(const Attributes& attributes) const {
  const Image image = read<Image>(attributes);
  const Value job = job_of(image);
  const Value node_image = objects_.find(types::node_images.kind, object_of(image.node.get()));
  return !job.is_null() && cluster::has_order(node_image, image, cluster::meta_of(job).uid.view());
}

Result<Outcome> NodeOrders::keep(const Act& act, Moment now, const std::stop_token& stop) {
  const Image image = read<Image>(act.attributes);
  const Name node = image.node.get();
  if (job_called(image).is_null())
    return wait_for_write(act, cat("job `", image.job.view(), "` is not stored yet"));
  if (job_of(image).is_null())
    return Outcome(Skipped{cat("job `", image.job.view(), "` is another one, or is going")});
  if (objects_.find(types::nodes.kind, object_of(node)).is_null())
    return Outcome(Skipped{"its node is there no more"});
  if (auto ended = take_end(act, node))
    return *std::move(ended);
  Orders due;
  if (std::optional<Outcome> left = leave(act, node, now.instant, due))
    return *std::move(left);
  write(node, due, now, stop);
  if (auto ended = take_end(act, node))
    return *std::move(ended);
  return Outcome(Pending{"its order has to be written once more", gathering_pause, {}});
}

/// The first call of an act begins anew, whatever an act before it has left.
std::optional<Result<Outcome>> NodeOrders::take_end(const Act& act, const Name& node) {
  const std::lock_guard lock(mutex_);
  const auto orders = by_node_.find(node);
  const auto found = orders == by_node_.end() ? Orders::iterator() : orders->second.find(act.key);
  const bool is_known = orders != by_node_.end() && found != orders->second.end() &&
                        found->second.attributes == act.attributes && act.attempt > 1;
  if (!is_known)
    return is_there(act.attributes) ? std::optional(Result<Outcome>(told(false))) : std::nullopt;
  if (found->second.stage != Stage::written)
    return std::nullopt;
  const std::optional<kubernetes::ApiError> refusal = std::move(found->second.refusal);
  orders->second.erase(found);
  if (orders->second.empty())
    by_node_.erase(orders);
  if (refusal)
    return outcome_of(*refusal);
  return is_there(act.attributes) ? std::optional(Result<Outcome>(told(true))) : std::nullopt;
}

/// The more wait, the longer: those that have not come yet are to have their turn before.
Outcome NodeOrders::later() const {
  return Pending{"its order waits for others of its node",
                 gathering_pause + static_cast<int64_t>(waiting_) * pause_for_each,
                 {}};
}

void NodeOrders::put(Orders& orders, const Act& act, Instant now) {
  const auto before = orders.find(act.key);
  const bool was_waiting = before != orders.end() && before->second.stage == Stage::waiting;
  waiting_ += was_waiting ? 0 : 1;
  last_left_ = now;
  orders[act.key] = {.attributes = act.attributes, .left = now};
}

/// A run that ends, or that wants something else, does not call its acts again.
void NodeOrders::drop_abandoned(Instant now) {
  if (now - last_dropped_ < longest_memory)
    return;
  last_dropped_ = now;
  for (auto& [node, orders] : by_node_)
    std::erase_if(orders, [&](const auto& each) {
      const Order& order = each.second;
      const bool is_abandoned = order.stage != Stage::writing && now - order.left > longest_memory;
      waiting_ -= is_abandoned && order.stage == Stage::waiting ? 1 : 0;
      return is_abandoned;
    });
  std::erase_if(by_node_, [](const auto& node) { return node.second.empty(); });
}

bool NodeOrders::may_write(const Orders& orders, const Order& own, Instant now) const {
  const bool is_being_written = std::ranges::any_of(
      orders, [](const auto& each) { return each.second.stage == Stage::writing; });
  return !is_being_written && (now - last_left_ >= quiet || now - own.left >= longest_gathering);
}

std::optional<Outcome> NodeOrders::leave(const Act& act, const Name& node, Instant now,
                                         Orders& due) {
  const std::lock_guard lock(mutex_);
  drop_abandoned(now);
  Orders& orders = by_node_[node];
  const auto found = orders.find(act.key);
  const bool is_known = found != orders.end() && found->second.attributes == act.attributes;
  if (!is_known || (act.attempt == 1 && found->second.stage == Stage::written)) {
    put(orders, act, now);
    return later();
  }
  if (act.attempt == 1 || !may_write(orders, found->second, now))
    return later();
  for (auto& [key, order] : orders)
    if (order.stage == Stage::waiting) {
      order.stage = Stage::writing;
      --waiting_;
      due.emplace(key, order);
    }
  return std::nullopt;
}

void NodeOrders::write(const Name& node, const Orders& due, const Moment& now,
                       const std::stop_token& stop) {
  std::vector<cluster::WantedOrder> wanted;
  for (const auto& [key, order] : due) {
    Image image = read<Image>(order.attributes);
    if (Value job = job_of(image); !job.is_null()) {
      auto copies = copier_.copies_for(job, now.instant, stop);
      wanted.push_back({std::move(image), std::move(job), std::move(copies)});
    }
  }
  if (wanted.empty())
    return end(node, due, Value());
  end(node, due, send(object_of(node), wanted, now.wall, stop));
}

/// A daemon writes the status of the same object.
ApiResult<Value> NodeOrders::send(const ObjectName& node,
                                  std::span<const cluster::WantedOrder> orders, Time now,
                                  const std::stop_token& stop) {
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::progress};
  Value object = objects_.find(types::node_images.kind, node);
  for (int tries = 1;; ++tries) {
    const Value change = cluster::orders_change(object, orders, now);
    ApiResult<Value> answer = Value();
    if (object.is_null()) {
      const Value made = cluster::node_image_for(objects_.find(types::nodes.kind, node));
      answer = client_.create(types::node_images, node, with(made, "spec", change.at("spec")),
                              options, stop);
    } else {
      answer = client_.patch(types::node_images, node, kubernetes::PatchType::merge, change,
                             options, stop);
    }
    if (answer)
      objects_.take_answer(types::node_images.kind, *answer);
    const bool has_changed = !answer && (answer.error().reason == ApiReason::conflict ||
                                         answer.error().reason == ApiReason::already_exists ||
                                         answer.error().reason == ApiReason::not_found);
    if (!has_changed || tries == most_order_tries)
      return answer;
    const auto present = client_.get(types::node_images, node, stop);
    if (!present && present.error().reason != ApiReason::not_found)
      return present;
    if (present)
      objects_.take_answer(types::node_images.kind, *present);
    object = present ? *present : Value();
  }
}

void NodeOrders::end(const Name& node, const Orders& due, const ApiResult<Value>& answer) {
  const std::lock_guard lock(mutex_);
  Orders& orders = by_node_[node];
  for (const auto& [key, order] : due) {
    const auto found = orders.find(key);
    if (found == orders.end() || found->second.stage != Stage::writing ||
        found->second.attributes != order.attributes)
      continue;  // something else is wanted by now
    found->second.stage = Stage::written;
    if (!answer)
      found->second.refusal = answer.error();
  }
}

}  // namespace fettle
