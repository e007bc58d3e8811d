#include "workplace/orphans.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "kinds/kinds.h"
#include "workplace/known_services.h"
#include "workplace/shown_key.h"

namespace fettle {
namespace {

const Name other_set = "others";

/// Whether something of it is in the world and can be removed.
bool is_in_world(const Key& key, const Kinds& kinds) {
  const Kind* const kind = kinds.find(key.kind);
  return kind != nullptr && kind->sort() != Sort::action && key.kind != command_kind().name();
}

using Keys = std::unordered_set<Key, KeyHash>;

/// The keys that the sets of `intent` want.
Keys keys_wanted(const Intent& intent) {
  Keys keys;
  for (const auto& [set, resources] : intent.resources)
    for (const Resource& resource : resources)
      keys.insert(resource.key);
  return keys;
}

/// Whether one of the sets of `intent` wants it, as the record says.
bool is_wanted_by(const Record& record, const Intent& intent) {
  return std::ranges::any_of(record.wanted_by, [&](const auto& wish) {
    return wish.second != Digest{} && intent.sets.contains(wish.first);
  });
}

Event left_event(const Workplace& place, const Key& key) {
  Event event;
  event.time = place.clock();
  event.type = EventType::removed;
  event.environment = key.environment;
  event.key = key;
  event.verb = Verb::forget;
  event.text = "no longer wanted; left in place";
  return event;
}

/// The needs that a recorded resource had.
std::set<Key> needs_of(const Record& record) {
  std::set<Key> keys;
  const Resource* const then = resource_of_then(record);
  if (then == nullptr)
    return keys;
  for (const Need& need : then->needs)
    if (need.bond != Bond::past)
      keys.insert(need.keys.begin(), need.keys.end());
  for (const Output& hole : holes(then->attributes))
    keys.insert({then->key.environment, hole.kind, hole.name});
  return keys;
}

/// Takes everything out of `going` that is used by something that stays.
std::vector<UsedOrphan> take_used(const Known& known, std::set<Key>& going) {
  std::map<Key, std::vector<Key>> users;
  for (const auto& [key, record] : known)
    for (const Key& need : needs_of(*record))
      if (going.contains(need))
        users[need].push_back(key);
  const auto stays = [&](const Key& user) {
    return !going.contains(user) && !is_orphan(*known.at(user));
  };
  std::vector<UsedOrphan> used;
  std::set<Key> staying;
  for (bool is_news = true; std::exchange(is_news, false);)
    for (const auto& [key, by] : users) {
      const auto user = std::ranges::find_if(
          by, [&](const Key& one) { return stays(one) || staying.contains(one); });
      if (user == by.end() || !staying.insert(key).second)
        continue;
      is_news = true;
      going.erase(key);
      used.push_back({key, *user});
    }
  std::ranges::sort(used, {}, &UsedOrphan::key);
  return used;
}

}  // namespace

bool is_surroundings(const Key& key) {
  return key.kind == image_kind().name() || key.kind == network_kind().name();
}

bool is_orphan(const Record& record) {
  const bool may_be_wanted =  // by whom, only lost records could say
      record.is_adopted && !record.wanted_by.contains(Name(set_of_lost_records));
  return !record.wanted_by.empty() && !may_be_wanted &&
         std::ranges::all_of(record.wanted_by,
                             [](const auto& wish) { return wish.second == Digest{}; });
}

std::string_view fate_of(const Orphan& orphan, const Known& known) {
  return known.contains(orphan.key) ? "failed" : orphan.was_found ? "forgotten" : "removed";
}

std::vector<Orphan> orphans_of(const Known& known, const Kinds& kinds) {
  std::vector<Orphan> found;
  if (std::ranges::none_of(known, [](const auto& one) { return is_orphan(*one.second); }))
    return found;
  const std::set<Key> removed = removed_services(known, kinds);
  for (const auto& [key, record] : known) {
    if (!is_orphan(*record) || !is_in_world(key, kinds) || is_surroundings(key) ||
        removed.contains(key))
      continue;
    Orphan orphan{key, {}, {}, record->finished, false};
    for (const auto& [set, wish] : record->wanted_by)
      orphan.sets.push_back(set);
    if (const Resource* const then = resource_of_then(*record))
      orphan.origin = then->origin;
    orphan.was_found = existed_before(*record);
    found.push_back(std::move(orphan));
  }
  std::ranges::sort(found, {}, &Orphan::key);
  return found;
}

Result<Departures> mark_orphans(const Workplace& place, Edit& edit, const Intent& intent,
                                Known known, bool forgets_acts) {
  const Keys wanted = keys_wanted(intent);
  Departures left;
  std::vector<Change> changes;
  for (auto& [key, record] : known) {
    const bool is_news = !wanted.contains(key) && is_wanted_by(*record, intent);
    if (!is_news)
      continue;
    auto marked = std::make_shared<Record>(*record);
    for (auto& [set, wish] : marked->wanted_by)
      if (intent.sets.contains(set))
        wish = Digest{};
    record = std::move(marked);
    const bool in_world = is_in_world(key, *place.kinds);
    const bool is_forgotten = forgets_acts && !in_world && is_orphan(*record);
    if (is_orphan(*record) && (in_world || is_forgotten) && !is_surroundings(key)) {
      (is_forgotten ? left.forgotten : left.orphaned).push_back(key);
      changes.push_back({Change::event, {}, nullptr, left_event(place, key)});
    }
    if (is_forgotten)
      record = nullptr;
    changes.push_back({is_forgotten ? Change::forget : Change::record, key, record, {}});
  }
  if (!changes.empty())
    TRY(edit.write(changes));
  std::erase_if(known, [](const auto& one) { return one.second == nullptr; });
  std::ranges::sort(left.orphaned);
  std::ranges::sort(left.forgotten);
  left.orphans = orphans_of(known, *place.kinds).size();
  left.shared = TRY(shared_orphans(place, intent.environment, known));
  return left;
}

Result<ChosenOrphans> find_orphans(const Workplace& place, const Environment& environment,
                                   const std::vector<std::string>& words) {
  const Known known = TRY(place.store->known(environment.name));
  const std::vector<Orphan> all = orphans_of(known, *place.kinds);
  std::vector<std::string> names;
  for (const Orphan& orphan : all)
    names.push_back(shown_key(orphan.key));
  std::vector<Orphan> found = words.empty() ? all : std::vector<Orphan>();
  for (const std::string& word : words) {
    const size_t before = found.size();
    for (const Orphan& orphan : all)
      if (to_string(orphan.key) == word || shown_key(orphan.key) == word || orphan.key.name == word)
        found.push_back(orphan);
    if (found.size() == before)
      return user_error(cat("`", environment.name, "` has no orphan `", word, "`",
                            suggestion(word, names).empty()
                                ? all.empty() ? std::string("; it has no orphans")
                                              : std::string("; `fettle orphans ls` lists them")
                                : suggestion(word, names)));
  }
  std::set<Key> going;
  for (const Orphan& orphan : found)
    going.insert(orphan.key);
  ChosenOrphans chosen;
  chosen.used = take_used(known, going);
  if (!words.empty() && !chosen.used.empty())
    return user_error(cat("`", shown_key(chosen.used[0].key), "` is still used by `",
                          shown_key(chosen.used[0].user), "`"));
  chosen.shared = TRY(shared_orphans(place, environment.name, known));
  for (const Orphan& orphan : all)
    if (!going.contains(orphan.key) || orphan.was_found)  // an orphan that is only forgotten
      chosen.shared.erase(orphan.key);
  if (!words.empty() && !chosen.shared.empty()) {
    const auto& [key, sharer] = *chosen.shared.begin();
    return user_error(cat("`", shown_key(key), "` stays: ", to_string(sharer, environment.name)));
  }
  std::erase_if(found, [&](const Orphan& orphan) {
    return !going.contains(orphan.key) || chosen.shared.contains(orphan.key);
  });
  chosen.going = std::move(found);
  return chosen;
}

Result<Summary> remove_orphans(const Workplace& place, Edit& edit,
                               const std::vector<Orphan>& orphans) {
  auto intent = std::make_shared<Intent>();
  intent->environment = edit.environment();
  RunRequest run_request;
  run_request.known = TRY(place.store->known(edit.environment()));
  leave_to_others(TRY(shared_orphans(place, edit.environment(), run_request.known)),
                  run_request.options.plan);
  std::set<Key> going;
  for (const Orphan& orphan : orphans) {
    going.insert(orphan.key);
    for (const Name& set : orphan.sets)
      intent->sets[set] = Leftover::remove;
  }
  // In this removal, all other records count as belonging to somebody else.
  for (auto& [key, record] : run_request.known) {
    if (going.contains(key))
      continue;
    auto kept = std::make_shared<Record>(*record);
    kept->wanted_by = {{other_set, Digest{0, 1}}};
    record = std::move(kept);
  }
  run_request.intent = intent;
  RunResult run_result = TRY(carry_out(place, edit, std::move(run_request)));
  return std::move(run_result.summary);
}

}  // namespace fettle
