#pragma once
/// Fails the 1st, 2nd, … call of a driver or a store until a scenario passes untouched: every place
/// where something can go wrong goes wrong once.
///
///   fault_sweep([&](Fault& fault) {
///     FaultyStore store(real, fault);
///     … run; expect a clean error when fault.has_hit(), else success;
///     fault.heal(); … run again; expect convergence
///   });

#include <functional>
#include <mutex>

#include "sim/world.h"
#include "store/edit.h"

namespace fettle::sim {

/// One call that fails, counted over all that share the fault.
class Fault {
 public:
  enum class Moment {
    before,  ///< nothing has happened
    after,   ///< it has happened, and the answer is lost
    death,   ///< nothing has happened, and nothing ever does until the fault is healed
  };
  Fault(size_t at, Moment moment) : at_(at), moment_(moment) {}

  /// Whether this call is the one that fails; counts it.
  bool hits();
  bool has_hit() const { return hit_; }
  void heal() { healed_ = true; }
  Moment moment() const { return moment_; }
  /// The error of the call that failed.
  Error error() const;

  /// Makes the call, or fails it.
  template <typename Call>
  auto pass(const Call& call) -> decltype(call()) {
    if (!hits())
      return call();
    if (moment_ == Moment::after)
      static_cast<void>(call());
    return error();
  }

 private:
  std::mutex mutex_;
  size_t at_, calls_ = 0;
  Moment moment_;
  bool hit_ = false, healed_ = false;
};

/// A store whose calls may fail. What it commits is one transaction, so a call that fails has
/// happened wholly or not at all.
class FaultyStore : public Store {
 public:
  FaultyStore(Store& real, Fault& fault) : real_(real), fault_(fault) {}
  Result<std::vector<Environment>> environments() override;
  Result<std::optional<Environment>> environment(const Name& name) override;
  Result<Known> known(const Name& environment) override;
  Result<std::vector<Event>> events(const Name& environment, uint64_t after, size_t limit) override;
  Result<std::vector<Event>> events_of(const Key& key, size_t limit) override;
  Result<std::vector<Event>> events_below(const Key& key, size_t limit) override;
  Result<std::vector<Key>> keys_of_events(const Name& environment) override;
  Result<std::optional<Value>> note(const Name& environment, std::string_view name) override;
  Result<int64_t> stamp() override;
  bool watch(const std::function<void()>& tell, std::stop_token stop) override {
    return real_.watch(tell, std::move(stop));
  }
  Versions& versions() override { return real_.versions(); }
  Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_edit(const Name& environment,
                                                                 const Holder& me) override;
  Result<std::optional<Holder>> holder(const Name& environment) override;
  Status check_take_away(const Name& environment, const Holder& holder) override;
  Status take_away(const Name& environment, const Holder& holder, const Holder& me,
                   const Event& told) override;
  Status wish(const Name& environment, const std::function<Status(Wish&)>& say) override;
  Result<std::optional<Value>> cached(std::string_view name) override;
  Status cache(std::string_view name, const Value& value, Time now) override;
  Result<size_t> forget_before(Time before) override;

 private:
  Store& real_;
  Fault& fault_;
};

/// The simulated world as a driver whose calls may fail.
class FaultyDriver : public Driver {
 public:
  FaultyDriver(World& world, Blobs& blobs, Fault& fault)
      : world_(world), blobs_(blobs), fault_(fault) {}
  Status ready(std::span<const Resource* const> wanted, std::stop_token stop) override;
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
  Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) override;

 private:
  World& world_;
  Blobs& blobs_;
  Fault& fault_;
  std::mutex mutex_;  ///< the world is acted on from several threads
};

/// The answer is how many calls the scenario makes when nothing fails.
size_t fault_sweep(Fault::Moment moment, const std::function<void(Fault&)>& scenario);

}  // namespace fettle::sim
