#include "verbs/states/path_owners.h"

#include "base/text.h"
#include "states/managed_path.h"
#include "workplace/driver_decorator.h"

namespace fettle {

class PathOwners::OwnerHoldings : public DriverDecorator {
 public:
  OwnerHoldings(PathOwners& all, Driver& driver) : DriverDecorator(driver), all_(all) {}

  /// A refusal is final: nothing in this run will change the path.
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override {
    const std::string other = act.verb == Verb::remove ? "" : all_.other_owner(act);
    if (other.empty())
      return driver_.apply(act, progress, std::move(stop));
    return Outcome(Failed{.error = world_error(other), .outputs = {}, .has_only_looked = true});
  }

 private:
  PathOwners& all_;
};

void PathOwners::put(const states::StatesIntent& intent) {
  const std::lock_guard lock(mutex_);
  owners_.insert(intent.owners.begin(), intent.owners.end());
  seconds_.insert(intent.seconds.begin(), intent.seconds.end());
}

std::string PathOwners::other_owner(const Act& act) {
  const std::optional<std::string> path = states::managed_path(act.key, act.attributes);
  if (!path || act.looks_only)
    return {};
  const std::lock_guard lock(mutex_);
  if (seconds_.contains(act.key))
    return {};
  const Key& owner = owners_.emplace(*path, act.key).first->second;
  return owner == act.key ? "" : states::manages_too(owner, *path);
}

Driver* PathOwners::around(const Name& name, Driver* driver) {
  if (driver == nullptr || (name != "host" && name != "state"))
    return driver;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Driver>& around = drivers_[name];
  if (around == nullptr)
    around = std::make_shared<OwnerHoldings>(*this, *driver);
  return around.get();
}

}  // namespace fettle
