#include "workplace/shared.h"

#include <unordered_set>

#include "base/text.h"
#include "workplace/machines.h"
#include "workplace/orphans.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

/// Finds who wants a thing, by its driver and its path.
class Places {
 public:
  explicit Places(const Workplace& place) : place_(place), kinds_(*place.kinds) {}

  /// Whether anything else can be in the same place. A thing that is marked belongs to one key
  /// alone.
  bool is_placed(const Key& key) const {
    const Kind* const kind = kinds_.find(key.kind);
    return kind != nullptr && !kind->is_marked();
  }

  void add(const Resource& resource, const Record* known) {
    if (resource.mandate == Mandate::none)
      return;  // it is meant for another machine
    if (std::string path = path_of(resource, known); !path.empty())
      wanted_.try_emplace({where(resource), std::move(path)}, resource.key);
  }
  /// The things of an environment are on a machine. Empty: on that of the program.
  Status move_to(const Name& environment) {
    if (place_.machines != nullptr)
      machine_ = TRY(remembered_machine(place_, environment));
    return {};
  }

  /// Adds the things that some set of an environment wants.
  void add_wanted(const Known& known) {
    for (const auto& [key, record] : known)
      if (is_placed(key) && is_wanted(*record))
        if (const Resource* const then = resource_of_then(*record))
          add(*then, record.get());
  }

  std::optional<Sharer> find(const Resource& resource, const Record* known) const {
    const std::string path = path_of(resource, known);
    if (path.empty())
      return std::nullopt;
    const Name driver = where(resource);
    if (const auto same = wanted_.find({driver, path}); same != wanted_.end())
      return Sharer{same->second};
    const std::string below = path.ends_with('/') ? path : path + "/";
    const auto inside = wanted_.lower_bound({driver, below});
    if (inside == wanted_.end() || inside->first.first != driver ||
        !inside->first.second.starts_with(below))
      return std::nullopt;
    return Sharer{inside->second, true};
  }

 private:
  static bool is_wanted(const Record& record) {
    return std::ranges::any_of(record.wanted_by,
                               [](const auto& wish) { return wish.second != Digest{}; });
  }

  /// Who acts on it, and on which machine.
  Name where(const Resource& resource) const {
    const bool is_on_machine = !machine_.empty() && place_.machines != nullptr &&
                               place_.machines->is_of_machine(resource.key.kind.view());
    return is_on_machine ? driver_on(resource.driver, machine_) : resource.driver;
  }

  std::string path_of(const Resource& resource, const Record* known) const {
    const Kind* const kind = kinds_.find(resource.key.kind);
    return kind == nullptr
               ? std::string()
               : kind->place(resource.attributes, known == nullptr ? Outputs() : known->outputs);
  }

  const Workplace& place_;
  const Kinds& kinds_;
  std::string machine_{};
  std::map<std::pair<Name, std::string>, Key> wanted_;
};

/// The things among those that go which are wanted in `places` or in another environment.
Result<Sharers> shared_of(const Workplace& place, const Name& environment, const Known& going,
                          Places places) {
  Sharers shared;
  if (going.empty())
    return shared;
  for (const Environment& other : TRY(place.store->environments()))
    if (other.name != environment) {
      TRY(places.move_to(other.name));
      places.add_wanted(TRY(place.store->known(other.name)));
    }
  TRY(places.move_to(environment));
  for (const auto& [key, record] : going)
    if (const Resource* const then = resource_of_then(*record))
      if (const std::optional<Sharer> sharer = places.find(*then, record.get()))
        shared.emplace(key, *sharer);
  return shared;
}

using Keys = std::unordered_set<Key, KeyHash>;

Keys placed_keys(const Intent& intent, const Places& places) {
  Keys keys;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      if (places.is_placed(resource.key))
        keys.insert(resource.key);
  return keys;
}

/// Whether only the sets of `intent` want it, or wanted it.
bool is_of_sets(const Record& record, const Intent& intent) {
  return !record.wanted_by.empty() && std::ranges::all_of(record.wanted_by, [&](const auto& wish) {
    return wish.second == Digest{} || intent.sets.contains(wish.first);
  });
}

}  // namespace

std::string to_string(const Sharer& sharer, const Name& environment) {
  const std::string who = sharer.key.environment == environment
                              ? cat("`", shown_key(sharer.key), "`")
                              : cat("environment `", sharer.key.environment, "`");
  return cat(who, sharer.is_inside ? " wants something in it" : " wants it");
}

Result<Sharers> shared_leftovers(const Workplace& place, const Intent& intent, const Known& known) {
  Places places(place);
  const Keys wanted = placed_keys(intent, places);
  Known going, staying;
  for (const auto& [key, record] : known)
    if (places.is_placed(key) && !wanted.contains(key))
      (is_of_sets(*record, intent) ? going : staying).emplace(key, record);
  if (going.empty())
    return Sharers();
  TRY(places.move_to(intent.environment));
  places.add_wanted(staying);
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      if (const auto record = known.find(resource.key); wanted.contains(resource.key))
        places.add(resource, record == known.end() ? nullptr : record->second.get());
  return shared_of(place, intent.environment, going, std::move(places));
}

Result<Sharers> shared_orphans(const Workplace& place, const Name& environment,
                               const Known& known) {
  Places places(place);
  Known going;
  for (const auto& [key, record] : known)
    if (places.is_placed(key) && is_orphan(*record))
      going.emplace(key, record);
  if (!going.empty()) {
    TRY(places.move_to(environment));
    places.add_wanted(known);
  }
  return shared_of(place, environment, going, std::move(places));
}

void leave_to_others(const Sharers& shared, PlanOptions& options) {
  auto told = std::make_shared<std::map<Key, std::string>>();
  for (const auto& [key, sharer] : shared)
    told->emplace(key, to_string(sharer, key.environment));
  options.shared = std::move(told);
}

}  // namespace fettle
