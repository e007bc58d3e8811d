#include "controller/notifier.h"

#include <algorithm>

#include "store/store.h"

namespace fettle {
namespace {

constexpr Duration shortest_rest = 20ms, busy_pause = 20ms, quiet_pause = 1s, after_a_ring = 200ms;

}  // namespace

Notifier::~Notifier() {
  for (auto& [name, thread] : threads_)
    thread.request_stop();
}

void Notifier::listen(const Name& driver_name, const Name& environment) {
  Driver* const driver = place_.driver(driver_name);
  if (driver == nullptr || threads_.contains(driver_name))
    return;
  threads_.emplace(driver_name, Thread([this, driver, environment](const std::stop_token& stop) {
                     driver->watch(environment, [this](const Key&) { notify(Cause::pods); }, stop);
                   }));
}

void Notifier::listen_to_store() {
  hears_store_ = true;
  // The empty name is free: no driver has it.
  threads_.emplace(Name(), Thread([this](const std::stop_token& stop) {
                     if (!place_.store->watch([this] { notify(Cause::store); }, stop))
                       hears_store_ = false;
                   }));
}

Duration Notifier::store_pause() const {
  const std::lock_guard lock(mutex_);
  const bool is_quiet = instant_from_clock() - store_told_ >= after_a_ring;
  return hears_store_ && is_quiet ? quiet_pause : busy_pause;
}

void Notifier::notify(Cause cause) {
  const std::lock_guard lock(mutex_);
  if (cause == Cause::store)
    store_told_ = instant_from_clock();
  causes_[static_cast<size_t>(cause)] = true;
  told_.notify_all();
  if (executor_ != nullptr)
    executor_->wake();
}

bool Notifier::take(Cause cause) {
  const std::lock_guard lock(mutex_);
  return std::exchange(causes_[static_cast<size_t>(cause)], false);
}

bool Notifier::rest(Duration limit, const Interrupt& interrupt) {
  if (interrupt.asked() > 0)
    return false;
  const std::stop_token stop = interrupt.acts_token();
  const std::stop_callback woken(stop, [this] {
    const std::lock_guard lock(mutex_);
    told_.notify_all();
  });
  std::unique_lock lock(mutex_);
  told_.wait_for(lock, std::max(limit, shortest_rest), [&] {
    return std::ranges::any_of(causes_, std::identity()) || stop.stop_requested();
  });
  return !stop.stop_requested() && interrupt.asked() == 0;
}

void Notifier::wake_on(Executor* executor) {
  const std::lock_guard lock(mutex_);
  executor_ = executor;
}

}  // namespace fettle
