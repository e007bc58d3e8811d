#include "verbs/models/versions.h"

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "controller/manifests.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

/// Joins what the pieces of a version say.
class Joiner {
 public:
  void add(const Piece& piece, const Content& content, bool is_new) {
    for (const Item& item : content.items) {
      const auto [place, inserted] = index_.emplace(item.id, items_.size());
      if (inserted)
        items_.push_back({item, item.is_shared ? Name() : piece.set, {}, {}});
      WholeItem& whole = items_[place->second];
      if (item.is_shared && !piece.set.empty())
        whole.contributors.push_back(piece.set);
      if (!inserted)
        whole.item.needs.insert(whole.item.needs.end(), item.needs.begin(), item.needs.end());
    }
    for (const Unknown& unknown : content.unknowns)
      if (is_new || !unknown.is_resolved)
        unknowns_.push_back(unknown);
  }

  WholeVersion finish(VersionHead head, bool is_whole) {
    for (WholeItem& whole : items_) {
      std::vector<Name>& needs = whole.item.needs;
      std::sort(needs.begin(), needs.end());
      needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
      if (is_whole)
        std::erase_if(needs, [&](const Name& need) { return !index_.contains(need); });
      std::sort(whole.contributors.begin(), whole.contributors.end());
    }
    mark_undefined();
    std::sort(items_.begin(), items_.end(), [](const WholeItem& a, const WholeItem& b) {
      return a.set != b.set ? a.set < b.set : a.item.id < b.item.id;
    });
    return {std::move(head), std::move(items_), std::move(unknowns_)};
  }

 private:
  /// Whatever needs something undefined, directly or not, is skipped.
  void mark_undefined() {
    std::unordered_map<Name, std::vector<size_t>> users;
    std::vector<size_t> open;
    for (size_t i = 0; i < items_.size(); ++i) {
      for (const Name& need : items_[i].item.needs)
        users[need].push_back(i);
      if (items_[i].item.is_undefined) {
        items_[i].state = WholeItem::State::undefined;
        open.push_back(i);
      }
    }
    while (!open.empty()) {
      const size_t i = open.back();
      open.pop_back();
      for (const size_t user : users[items_[i].item.id])
        if (items_[user].state == WholeItem::State::available) {
          items_[user].state = WholeItem::State::skipped_for_undefined;
          open.push_back(user);
        }
    }
  }

  std::vector<WholeItem> items_;
  std::unordered_map<Name, size_t> index_;
  std::vector<Unknown> unknowns_;
};

/// Resources by id, as far as the touched pieces of a version have them.
struct Side {
  std::unordered_map<Name, std::pair<Item, Name>> items;

  void add(const Piece& piece, const Content& content) {
    for (const Item& item : content.items) {
      const auto [place, inserted] =
          items.emplace(item.id, std::pair(item, item.is_shared ? Name() : piece.set));
      if (!inserted) {
        std::vector<Name>& needs = place->second.first.needs;
        needs.insert(needs.end(), item.needs.begin(), item.needs.end());
        std::sort(needs.begin(), needs.end());
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
      }
    }
  }
};

/// Adds the shared resources of which only untouched pieces of a version speak.
Status add_shared_of_untouched(const Snapshot& snapshot, const std::vector<Name>& ids, Side& side) {
  for (const Name& id : ids) {
    std::optional<Piece> holder;
    TRY(snapshot.holders(key_of_item(id), [&](Digest, const Piece& piece) {
      holder = piece;
      return Snapshot::Go::stop;
    }));
    if (!holder)
      continue;
    if (const ContentPointer content = TRY(snapshot.content(*holder)))
      if (const Item* item = content->find(id))
        side.items.emplace(id, std::pair(*item, item->is_shared ? Name() : holder->set));
  }
  return {};
}

/// The shared resources of one side that the other does not have.
std::vector<Name> shared_without(const Side& side, const Side& other) {
  std::vector<Name> found;
  for (const auto& [id, item] : side.items)
    if (item.first.is_shared && !other.items.contains(id))
      found.push_back(id);
  return found;
}

/// Adds a difference outside attributes as one of them, with both values.
void add_field(ItemDifference& found, std::string_view name, Value before, Value after) {
  const auto with = [&](const Value& attributes, Value value) {
    const std::span<const Entry> own = attributes.entries();
    std::vector<Entry> entries(own.begin(), own.end());
    entries.push_back({Name(name), std::move(value)});
    return Value::dict(std::move(entries));
  };
  found.before = with(found.before, std::move(before));
  found.after = with(found.after, std::move(after));
  found.fields.emplace_back(name);
}

void compare_needs(const std::vector<Name>& before, const std::vector<Name>& after,
                   ItemDifference& found) {
  if (before == after)
    return;
  const auto listed = [](const std::vector<Name>& needs) {
    std::vector<Value> items(needs.begin(), needs.end());
    return Value::list(std::move(items));
  };
  add_field(found, "requires", listed(before), listed(after));
}

/// An undefined resource is not deployed.
void compare_states(const Item& before, const Item& after, ItemDifference& found) {
  const auto word = [](const Item& item) { return item.is_undefined ? "undefined" : "available"; };
  if (before.is_undefined != after.is_undefined)
    add_field(found, "resource_state", word(before), word(after));
}

ItemDifference compare(const Name& id, const Item& before, const Name& set_before,
                       const Item& after, const Name& set) {
  ItemDifference found{ItemDifference::Type::changed,
                       id,
                       set,
                       set_before,
                       differences(before.attributes, after.attributes),
                       before.attributes,
                       after.attributes};
  // A field that is null is a field all the same.
  for (const Value* side : {&before.attributes, &after.attributes})
    for (const Entry& entry : side->entries())
      if (entry.value.is_null() && (before.attributes.find(entry.key) == nullptr ||
                                    after.attributes.find(entry.key) == nullptr))
        found.fields.push_back(entry.key.str());
  compare_needs(before.needs, after.needs, found);
  compare_states(before, after, found);
  if (set != set_before)
    found.type = ItemDifference::Type::moved;
  return found;
}

/// The same difference, seen from the other version.
void turn_round(ItemDifference& one) {
  using Type = ItemDifference::Type;
  std::swap(one.set, one.set_before);
  std::swap(one.before, one.after);
  if (one.type == Type::added || one.type == Type::removed)
    one.type = one.type == Type::added ? Type::removed : Type::added;
}

}  // namespace

namespace {

/// Waits for the turn to push.
Result<std::unique_ptr<PushTurn>> begin_push(const Workplace& place, const Name& environment) {
  bool told = false;
  while (true) {
    if (std::unique_ptr<PushTurn> turn = TRY(place.store->versions().begin_push(environment)))
      return Result<std::unique_ptr<PushTurn>>(std::move(turn));
    if (place.interrupt->asked() > 0)
      return world_error("interrupted while waiting for another push");
    if (!std::exchange(told, true))
      place.tell(cat("waiting for another push to `", environment, "`"));
    std::this_thread::sleep_for(5ms);
  }
}

/// Puts settings into a wish, and returns those that were refused.
Result<std::vector<Error>> put_settings(Wish& wish, const std::vector<NewSetting>& settings) {
  std::vector<Error> refused;
  for (const auto& [name, value] : settings)
    if (const Status done = put_setting(wish, name, value); !done) {
      if (done.error().blame != Blame::user)
        return done.error();
      refused.push_back(done.error());
    }
  return refused;
}

}  // namespace

Result<PushResult> push_version(const Workplace& place, const Name& environment, Push push,
                                Claims claims, bool is_dry,
                                const std::vector<NewSetting>& settings) {
  PushResult pushed;
  const bool is_partial = push.is_partial;
  const auto decide = [&](const Snapshot& newest) -> Result<Delta> {
    if (newest.number() > 0 && is_of_fleet(newest.detail()))
      return user_error(cat("`", environment,
                            "` holds workloads; `-e NAME` names another environment for a model"));
    Commit made = TRY(commit(newest, std::move(push), std::move(claims)));
    pushed.number = made.delta.number;
    pushed.changes = std::move(made.changes);
    pushed.kept_sets = made.kept_sets;
    return std::move(made.delta);
  };
  if (is_dry) {
    TRY(decide(*TRY(place.store->versions().open(environment, std::nullopt))));
    return pushed;
  }
  const std::unique_ptr<PushTurn> turn = TRY(begin_push(place, environment));
  const std::unique_ptr<StagedVersion> staged = TRY(turn->stage(TRY(decide(turn->newest()))));
  const Time now = place.clock();
  size_t keep = 0;
  TRY(place.store->wish(environment, [&](Wish& wish) -> Status {
    TRY(wish.ensure_environment({environment, new_uuid(place), now, Value::dict({})}));
    TRY(wish.commit(*staged, now));
    pushed.refused_settings = TRY(put_settings(wish, settings));
    if (!is_partial)
      TRY(wish.put_note("last_full_export", now.time_since_epoch().count()));
    pushed.is_released = TRY(setting_in(wish, "auto_deploy")) == "true";
    if (pushed.is_released)
      TRY(wish.release(pushed.number, now));
    keep = std::stoul(TRY(setting_in(wish, "available_versions_to_keep")));
    return {};
  }));
  TRY(turn->forget_old(keep));
  return pushed;
}

Result<WholeVersion> read_version(const Workplace& place, const Name& environment,
                                  std::optional<uint64_t> number, std::optional<Name> only) {
  Versions& versions = place.store->versions();
  const std::unique_ptr<Snapshot> snapshot = TRY(versions.open(environment, number));
  if (snapshot->number() == 0)
    return user_error(cat("nothing was exported to `", environment, "` yet"));
  const std::optional<VersionHead> head = TRY(versions.head(environment, snapshot->number()));
  const std::vector<Piece> fresh =
      TRY(versions.touched_between(environment, snapshot->number() - 1, snapshot->number()));
  Joiner joiner;
  const auto add = [&](const Piece& piece) -> Status {
    if (const ContentPointer content = TRY(snapshot->content(piece)))
      joiner.add(piece, *content, std::binary_search(fresh.begin(), fresh.end(), piece));
    return {};
  };
  if (only && !only->empty()) {
    if (!TRY(snapshot->digest({*only, {}}))) {
      std::vector<std::string> names;
      for (const auto& [piece, digest] : TRY(snapshot->pieces()))
        names.push_back(piece.set.str());
      return user_error(cat("version ", snapshot->number(), " has no set `", printable(*only), "`",
                            suggestion(only->view(), names)));
    }
    TRY(add({*only, {}}));
  } else {
    for (const auto& [piece, digest] : TRY(snapshot->pieces()))
      TRY(add(piece));
  }
  WholeVersion whole = joiner.finish(*head, !only || only->empty());
  if (only)
    std::erase_if(whole.items, [&](const WholeItem& item) { return item.set != *only; });
  return whole;
}

Result<std::vector<ItemDifference>> diff_versions(const Workplace& place, const Name& environment,
                                                  uint64_t older, uint64_t newer) {
  Versions& versions = place.store->versions();
  if (older > newer) {
    std::vector<ItemDifference> found = TRY(diff_versions(place, environment, newer, older));
    for (ItemDifference& one : found)
      turn_round(one);
    return found;
  }
  const std::unique_ptr<Snapshot> from = TRY(versions.open(environment, older));
  const std::unique_ptr<Snapshot> to = TRY(versions.open(environment, newer));
  Side before, after;
  for (const Piece& piece : TRY(versions.touched_between(environment, older, newer))) {
    const std::optional<Digest> old_digest = TRY(from->digest(piece));
    const std::optional<Digest> new_digest = TRY(to->digest(piece));
    if (old_digest == new_digest)
      continue;
    if (old_digest)
      before.add(piece, *TRY(from->content(piece)));
    if (new_digest)
      after.add(piece, *TRY(to->content(piece)));
  }
  const std::vector<Name> lost = shared_without(before, after);
  const std::vector<Name> won = shared_without(after, before);
  TRY(add_shared_of_untouched(*to, lost, after));
  TRY(add_shared_of_untouched(*from, won, before));
  std::vector<ItemDifference> found;
  for (const auto& [id, old] : before.items) {
    const auto now = after.items.find(id);
    if (now == after.items.end()) {
      found.push_back(
          {ItemDifference::Type::removed, id, {}, old.second, {}, old.first.attributes, {}});
      continue;
    }
    // The touched pieces may have only some of the needs of a shared resource.
    const bool is_shared = old.first.is_shared && now->second.first.is_shared;
    if (is_shared && old.first.attributes == now->second.first.attributes) {
      ItemDifference made{ItemDifference::Type::changed, id, {}, {}, {}, old.first.attributes,
                          now->second.first.attributes};
      compare_needs(TRY(needs_in(*from, id)), TRY(needs_in(*to, id)), made);
      compare_states(old.first, now->second.first, made);
      if (!made.fields.empty())
        found.push_back(std::move(made));
      continue;
    }
    ItemDifference made = compare(id, old.first, old.second, now->second.first, now->second.second);
    if (!made.fields.empty() || made.type == ItemDifference::Type::moved)
      found.push_back(std::move(made));
  }
  for (const auto& [id, now] : after.items)
    if (!before.items.contains(id))
      found.push_back(
          {ItemDifference::Type::added, id, now.second, {}, {}, {}, now.first.attributes});
  std::sort(found.begin(), found.end(), [](const ItemDifference& a, const ItemDifference& b) {
    const Name& set_a = a.set.empty() ? a.set_before : a.set;
    const Name& set_b = b.set.empty() ? b.set_before : b.set;
    return set_a != set_b ? set_a < set_b : a.id < b.id;
  });
  return found;
}

Result<std::vector<SetHead>> list_sets(const Workplace& place, const Name& environment,
                                       std::optional<uint64_t> number) {
  const WholeVersion whole = TRY(read_version(place, environment, number));
  std::vector<SetHead> sets;
  for (const WholeItem& item : whole.items) {
    if (sets.empty() || sets.back().name != item.set)
      sets.push_back({item.set, 0});
    ++sets.back().items;
  }
  return sets;
}

std::string_view to_string(WholeItem::State state) {
  constexpr std::array<std::string_view, 3> names{"available", "undefined",
                                                  "skipped_for_undefined"};
  return names[static_cast<size_t>(state)];
}

std::string_view to_string(ItemDifference::Type type) {
  constexpr std::array<std::string_view, 4> names{"added", "changed", "moved", "removed"};
  return names[static_cast<size_t>(type)];
}

const Value* field_of(const Value& attributes, const std::string& field) {
  return attributes.is_dict() ? follow(attributes, field) : nullptr;
}

}  // namespace fettle
