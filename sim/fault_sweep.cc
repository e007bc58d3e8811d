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

namespace {

class FaultyEdit : public Edit {
 public:
  FaultyEdit(std::unique_ptr<Edit> real, Fault& fault) : real_(std::move(real)), fault_(fault) {}
  const Name& environment() const override { return real_->environment(); }
  uint64_t number() const override { return real_->number(); }
  Status write(std::span<const Change> changes) override {
    return fault_.pass([&] { return real_->write(changes); });
  }
  Status put_environment(const Environment& environment) override {
    return fault_.pass([&] { return real_->put_environment(environment); });
  }
  Status put_note(std::string_view name, const Value& value) override {
    return fault_.pass([&] { return real_->put_note(name, value); });
  }
  Status begin_removal() override {
    return fault_.pass([&] { return real_->begin_removal(); });
  }
  Status remove_environment() override {
    return fault_.pass([&] { return real_->remove_environment(); });
  }

 private:
  std::unique_ptr<Edit> real_;
  Fault& fault_;
};

}  // namespace

Result<std::vector<Environment>> FaultyStore::environments() {
  return fault_.pass([&] { return real_.environments(); });
}
Result<std::optional<Environment>> FaultyStore::environment(const Name& name) {
  return fault_.pass([&] { return real_.environment(name); });
}
Result<Known> FaultyStore::known(const Name& environment) {
  return fault_.pass([&] { return real_.known(environment); });
}
Result<std::vector<Event>> FaultyStore::events(const Name& environment, uint64_t after,
                                               size_t limit) {
  return fault_.pass([&] { return real_.events(environment, after, limit); });
}
Result<std::vector<Event>> FaultyStore::events_of(const Key& key, size_t limit) {
  return fault_.pass([&] { return real_.events_of(key, limit); });
}
Result<std::vector<Key>> FaultyStore::keys_of_events(const Name& environment) {
  return fault_.pass([&] { return real_.keys_of_events(environment); });
}
Result<std::vector<Event>> FaultyStore::events_below(const Key& key, size_t limit) {
  return fault_.pass([&] { return real_.events_below(key, limit); });
}
Result<std::optional<Value>> FaultyStore::note(const Name& environment, std::string_view name) {
  return fault_.pass([&] { return real_.note(environment, name); });
}
Result<int64_t> FaultyStore::stamp() {
  return fault_.pass([&] { return real_.stamp(); });
}
Result<std::variant<std::unique_ptr<Edit>, Holder>> FaultyStore::begin_edit(const Name& environment,
                                                                            const Holder& me) {
  auto begun = TRY(fault_.pass([&] { return real_.begin_edit(environment, me); }));
  if (auto* edit = std::get_if<std::unique_ptr<Edit>>(&begun))
    *edit = std::make_unique<FaultyEdit>(std::move(*edit), fault_);
  return begun;
}
Result<std::optional<Holder>> FaultyStore::holder(const Name& environment) {
  return fault_.pass([&] { return real_.holder(environment); });
}
Status FaultyStore::check_take_away(const Name& environment, const Holder& holder) {
  return fault_.pass([&] { return real_.check_take_away(environment, holder); });
}
Status FaultyStore::take_away(const Name& environment, const Holder& holder, const Holder& me,
                              const Event& told) {
  return fault_.pass([&] { return real_.take_away(environment, holder, me, told); });
}
Status FaultyStore::wish(const Name& environment, const std::function<Status(Wish&)>& say) {
  return fault_.pass([&] { return real_.wish(environment, say); });
}
Result<std::optional<Value>> FaultyStore::cached(std::string_view name) {
  return fault_.pass([&] { return real_.cached(name); });
}
Status FaultyStore::cache(std::string_view name, const Value& value, Time now) {
  return fault_.pass([&] { return real_.cache(name, value, now); });
}
Result<size_t> FaultyStore::forget_before(Time before) {
  return fault_.pass([&] { return real_.forget_before(before); });
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
  return fault_.pass([&] { return world_.apply(act, blobs_); });
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
