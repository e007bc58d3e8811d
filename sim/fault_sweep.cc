#include "sim/fault_sweep.h"

#include "base/text.h"

namespace fettle::sim {

bool Fault::hits() {
  const std::lock_guard lock(mutex_);
  if (healed_ || (++calls_ != at_ && !(hit_ && moment_ == Moment::death)))
    return false;
  hit_ = true;
  return true;
}

Error Fault::error() const {
  Error error = world_error(cat("call ", at_, " failed on purpose"));
  error.unknown_outcome = moment_ == Moment::after;
  return error;
}

Result<std::vector<Environment>> FaultyStore::environments() {
  return fault_.pass([&] { return real_.environments(); });
}
Result<std::optional<Environment>> FaultyStore::environment(const Name& name) {
  return fault_.pass([&] { return real_.environment(name); });
}
Status FaultyStore::put_environment(const Environment& environment) {
  return fault_.pass([&] { return real_.put_environment(environment); });
}
Status FaultyStore::remove_environment(const Name& name) {
  return fault_.pass([&] { return real_.remove_environment(name); });
}
Result<Known> FaultyStore::known(const Name& environment) {
  return fault_.pass([&] { return real_.known(environment); });
}
Status FaultyStore::write(std::span<const Change> changes) {
  return fault_.pass([&] { return real_.write(changes); });
}
Result<std::vector<Event>> FaultyStore::events(const Name& environment, uint64_t after,
                                               size_t limit) {
  return fault_.pass([&] { return real_.events(environment, after, limit); });
}
Result<std::vector<Event>> FaultyStore::events_of(const Key& key, size_t limit) {
  return fault_.pass([&] { return real_.events_of(key, limit); });
}
Result<std::optional<Holder>> FaultyStore::acquire(const Name& environment, const Holder& me) {
  return fault_.pass([&] { return real_.acquire(environment, me); });
}
Status FaultyStore::release(const Name& environment, const Holder& me) {
  return fault_.pass([&] { return real_.release(environment, me); });
}
Result<std::optional<Value>> FaultyStore::note(const Name& environment, std::string_view name) {
  return fault_.pass([&] { return real_.note(environment, name); });
}
Status FaultyStore::put_note(const Name& environment, std::string_view name, const Value& value) {
  return fault_.pass([&] { return real_.put_note(environment, name, value); });
}

Status FaultyDriver::ready(std::span<const Resource* const>, std::stop_token) {
  return fault_.pass([] { return Status(); });
}

Result<std::vector<Observation>> FaultyDriver::observe(std::span<const Subject> subjects,
                                                       std::stop_token) {
  const std::lock_guard lock(mutex_);
  return fault_.pass([&]() -> Result<std::vector<Observation>> {
    std::vector<Observation> seen;
    for (const Subject& subject : subjects)
      seen.push_back(world_.observe(subject.key));
    return seen;
  });
}

Result<Outcome> FaultyDriver::apply(const Act& act, const ProgressSink&, std::stop_token) {
  const std::lock_guard lock(mutex_);
  return fault_.pass([&] { return world_.apply(act); });
}

Result<std::vector<Found>> FaultyDriver::list(const Name&, std::stop_token) {
  return fault_.pass([] { return Result<std::vector<Found>>(std::vector<Found>()); });
}

size_t fault_sweep(Fault::Moment moment, const std::function<void(Fault&)>& scenario) {
  for (size_t at = 1;; ++at) {
    Fault fault(at, moment);
    scenario(fault);
    if (!fault.has_hit())
      return at - 1;
  }
}

}  // namespace fettle::sim
