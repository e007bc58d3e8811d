#include "store/limited_store.h"

#include <algorithm>

#include "base/text.h"
#include "store/edit.h"

namespace fettle {
namespace {

Error beyond(const Name& environment) {
  return user_error(cat("the environment `", environment, "` is not for this token"));
}

class LimitedVersions : public Versions {
 public:
  LimitedVersions(Versions& versions, const StoreLimits& limits)
      : versions_(versions), limits_(limits) {}

  Result<std::vector<VersionHead>> heads(const Name& environment) override {
    TRY(check(environment));
    return versions_.heads(environment);
  }
  Result<std::optional<VersionHead>> head(const Name& environment, uint64_t number) override {
    TRY(check(environment));
    return versions_.head(environment, number);
  }
  Result<std::unique_ptr<Snapshot>> open(const Name& environment,
                                         std::optional<uint64_t> number) override {
    TRY(check(environment));
    return versions_.open(environment, number);
  }
  Result<std::vector<Piece>> touched_between(const Name& environment, uint64_t older,
                                             uint64_t newer) override {
    TRY(check(environment));
    return versions_.touched_between(environment, older, newer);
  }
  Result<std::unique_ptr<PushTurn>> begin_push(const Name& environment) override {
    TRY(check(environment));
    return versions_.begin_push(environment);
  }

 private:
  Status check(const Name& environment) const {
    return !limits_.reaches || limits_.reaches(environment) ? Status() : beyond(environment);
  }

  Versions& versions_;
  const StoreLimits& limits_;
};

class LimitedStore : public Store {
 public:
  LimitedStore(Store& store, StoreLimits limits)
      : store_(store), limits_(std::move(limits)), versions_(store.versions(), limits_) {}

  Versions& versions() override { return versions_; }

  Result<std::vector<Environment>> environments() override {
    std::vector<Environment> all = TRY(store_.environments());
    if (limits_.hides_others)
      std::erase_if(all, [&](const Environment& one) { return !reaches(one.name); });
    return all;
  }
  Result<std::optional<Environment>> environment(const Name& name) override {
    return reaches(name) ? store_.environment(name) : std::optional<Environment>();
  }
  Result<Known> known(const Name& environment) override {
    return reaches(environment) || !limits_.hides_others ? store_.known(environment) : Known();
  }

  Result<std::vector<Event>> events(const Name& environment, uint64_t after,
                                    size_t limit) override {
    TRY(check(environment));
    std::vector<Event> all = TRY(store_.events(environment, after, limit));
    std::erase_if(all, [&](const Event& event) { return !reaches(event.environment); });
    return all;
  }
  Result<std::vector<Event>> events_of(const Key& key, size_t limit) override {
    TRY(check(key.environment));
    return store_.events_of(key, limit);
  }
  Result<std::vector<Event>> events_below(const Key& key, size_t limit) override {
    TRY(check(key.environment));
    return store_.events_below(key, limit);
  }
  Result<std::vector<Key>> keys_of_events(const Name& environment) override {
    TRY(check(environment));
    return store_.keys_of_events(environment);
  }
  Result<std::optional<Value>> note(const Name& environment, std::string_view name) override {
    TRY(check(environment));
    return store_.note(environment, name);
  }

  Result<int64_t> stamp() override { return store_.stamp(); }
  bool watch(const std::function<void()>& tell, std::stop_token stop) override {
    return store_.watch(tell, std::move(stop));
  }

  Result<std::variant<std::unique_ptr<Edit>, Holder>> begin_edit(const Name& environment,
                                                                 const Holder& me) override {
    TRY(check_write(environment));
    return store_.begin_edit(environment, me);
  }
  Result<std::optional<Holder>> holder(const Name& environment) override {
    TRY(check(environment));
    return store_.holder(environment);
  }
  Status check_take_away(const Name& environment, const Holder& holder) override {
    TRY(check_write(environment));
    return store_.check_take_away(environment, holder);
  }
  Status take_away(const Name& environment, const Holder& holder, const Holder& me,
                   const Event& told) override {
    TRY(check_write(environment));
    return store_.take_away(environment, holder, me, told);
  }
  Status wish(const Name& environment, const std::function<Status(Wish&)>& say) override {
    TRY(check_write(environment));
    return store_.wish(environment, say);
  }

  Result<std::optional<Value>> cached(std::string_view name) override {
    return store_.cached(name);
  }
  Status cache(std::string_view name, const Value& value, Time now) override {
    return store_.cache(name, value, now);
  }
  Result<size_t> forget_before(Time before) override {
    if (limits_.reaches || !limits_.may_write)
      return user_error("events of all environments are not for this token");
    return store_.forget_before(before);
  }

 private:
  bool reaches(const Name& environment) const {
    return !limits_.reaches || limits_.reaches(environment);
  }
  /// What belongs to no environment may be read.
  Status check(const Name& environment) const {
    return environment.empty() || reaches(environment) ? Status() : beyond(environment);
  }
  Status check_write(const Name& environment) const {
    if (!limits_.may_write)
      return user_error("this token may change nothing");
    return reaches(environment) ? Status() : beyond(environment);
  }

  Store& store_;
  const StoreLimits limits_;
  LimitedVersions versions_;
};

}  // namespace

std::unique_ptr<Store> limited_store(Store& store, StoreLimits limits) {
  return std::make_unique<LimitedStore>(store, std::move(limits));
}

}  // namespace fettle
