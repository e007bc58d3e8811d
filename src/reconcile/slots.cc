#include "reconcile/slots.h"

namespace fettle {

Slots::Pool& Slots::pool_of(const Resource* wanted) {
  if (wanted != nullptr && wanted->is_instant && wanted->pool.empty())
    return instant_;
  const auto [found, added] = pools_.try_emplace(wanted == nullptr ? Name() : wanted->pool);
  if (added) {
    const auto depth = depths_.find(found->first);
    found->second.depth = depth == depths_.end() ? parallelism_ : depth->second;
  }
  return found->second;
}

Slots::Pool* Slots::first_that_fits() {
  if (!instant_.queue.empty() && instant_.in_use < instant_.depth)
    return &instant_;
  Pool* first = nullptr;
  if (acting_ - instant_.in_use < parallelism_)
    for (auto& [name, pool] : pools_)
      if (pool.in_use < pool.depth && !pool.queue.empty() &&
          (first == nullptr || *pool.queue.begin() < *first->queue.begin()))
        first = &pool;
  return first;
}

std::optional<uint32_t> Slots::next() {
  Pool* const pool = first_that_fits();
  if (pool == nullptr)
    return std::nullopt;
  return pool->queue.extract(pool->queue.begin()).value();
}

void Slots::hold(const Resource* wanted) {
  ++acting_;
  ++pool_of(wanted).in_use;
}

void Slots::release(const Resource* wanted) {
  --acting_;
  --pool_of(wanted).in_use;
}

}  // namespace fettle
