#include "verbs/states/paced_drivers.h"

#include "workplace/driver_decorator.h"

namespace fettle {

class PacedDrivers::Paced : public DriverDecorator {
 public:
  Paced(PacedDrivers& all, Driver& driver) : DriverDecorator(driver), all_(all) {}

  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override {
    Result<Outcome> outcome = driver_.apply(act, progress, stop);
    const std::optional<Value> wait = all_.wait_of(act.key);
    if (!wait || act.looks_only)
      return outcome;
    return outcome ? again(act, *wait, *std::move(outcome), stop)
                   : failed(act, *wait, std::move(outcome).error(), stop);
  }

 private:
  /// The wait of the state overrules what a driver says about the time of the next call.
  Result<Outcome> again(const Act& act, const Value& wait, Outcome outcome, std::stop_token stop) {
    if (auto* pending = std::get_if<Pending>(&outcome))
      pending->retry_after = TRY(pause(act, wait, std::move(stop)));
    else if (auto* failed = std::get_if<Failed>(&outcome); failed != nullptr && failed->again)
      failed->again->after = TRY(pause(act, wait, std::move(stop)));
    return outcome;
  }

  /// An error says nothing about the time of the next call. If nobody knows how a call ended, it is
  /// not repeated; if somebody stopped a call, he decides what comes next.
  Result<Outcome> failed(const Act& act, const Value& wait, Error error, std::stop_token stop) {
    if (wait.is_null() || error.unknown_outcome || is_cancelled(error))
      return error;
    Again again{error.message, {}, act.so_far, Name(error.message).digest(), {}};
    again.after = TRY(pause(act, wait, std::move(stop)));
    return Outcome(Failed{std::move(error), {}, std::move(again)});
  }

  /// No value: the pace of the resource counts.
  Result<std::optional<Duration>> pause(const Act& act, const Value& wait, std::stop_token stop) {
    if (wait.is_null())
      return std::optional<Duration>();
    return std::optional(TRY(all_.own_wait_(wait, act.attempt - 1, std::move(stop))));
  }

  PacedDrivers& all_;
};

void PacedDrivers::put(const Key& key, Value own_wait) {
  const std::lock_guard lock(mutex_);
  waits_.insert_or_assign(key, std::move(own_wait));
}

std::optional<Value> PacedDrivers::wait_of(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = waits_.find(key);
  return found == waits_.end() ? std::nullopt : std::optional(found->second);
}

Driver* PacedDrivers::around(const Name& name, Driver* driver) {
  const std::lock_guard lock(mutex_);
  if (driver == nullptr || waits_.empty())
    return driver;
  std::shared_ptr<Driver>& around = drivers_[name];
  if (around == nullptr)
    around = std::make_shared<Paced>(*this, *driver);
  return around.get();
}

}  // namespace fettle
