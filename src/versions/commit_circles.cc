/// Finds circles of needs. The newest version has none, so the push can close one only by a new
/// way: through the push, with a new need on it, to a shared resource, and from there through other
/// sets back to the beginning. If there was a way between the two before, there is none back. Only
/// if this leaves a doubt are the needs of other sets walked over.

#include <algorithm>

#include "base/text.h"
#include "versions/circle.h"
#include "versions/committer.h"

namespace fettle {

Status Committer::check_circles() {
  if (!push_.is_partial) {
    if (std::optional<Error> circle = find_cycle(push_.items))
      return std::move(*circle);
    return {};
  }
  if (!TRY(may_close_circle()))
    return {};
  CircleSearch search([this](const Name& id) { return needs_of(id); });
  for (const Item& item : push_.items) {
    const std::vector<Name> circle = TRY(search.from(item.id));
    if (!circle.empty())
      return circle_error(circle);
  }
  return {};
}

Error Committer::circle_error(const std::vector<Name>& circle) {
  std::set<Name> sets;
  for (const Name& id : circle) {
    Name set = set_of(id);
    if (!index_.contains(id))
      if (Result<std::optional<Piece>> piece = staying_holder(id); piece && *piece)
        set = (*piece)->set;
    if (!set.empty())
      sets.insert(set);
  }
  return user_error(cat("Dependency cycle: ", circle_text(circle),
                        sets.empty() ? "" : cat(" (sets ", joined(sets), ")"), places(circle)));
}

Result<bool> Committer::may_close_circle() {
  if (find_cycle(push_.items))
    return true;
  for (const Item* item : TRY(shared_with_other_needs()))
    if (TRY(may_return(*item)))
      return true;
  return false;
}

/// Where ways leave the push, other pieces may have needs of the resource, too.
Result<std::vector<const Item*>> Committer::shared_with_other_needs() const {
  std::vector<const Item*> found;
  for (const Item& item : push_.items) {
    if (!set_of(item.id).empty())
      continue;
    bool is_found = false;
    TRY(newest_.holders(key_of_needs(item.id), [&](Digest, const Piece& piece) {
      is_found = !is_touched(piece);
      return is_found ? Go::stop : Go::on;
    }));
    if (is_found)
      found.push_back(&item);
  }
  return found;
}

Result<bool> Committer::may_return(const Item& from) {
  for (const Name& id : TRY(with_new_way_to(from)))
    if (TRY(any_holder(id)) ? !TRY(was_way(id, from.id)) : TRY(may_lead_to_new(from, id)))
      return true;
  return false;
}

/// Resources of the push from which a way with a new need on it leads to one of them.
Result<std::vector<Name>> Committer::with_new_way_to(const Item& target) {
  if (users_.empty())
    for (const Item& item : push_.items)
      for (const Name& need : item.needs)
        users_[need].push_back(&item);
  std::vector<Name> found;
  std::set<std::pair<Name, bool>> seen;
  std::vector<std::pair<Name, bool>> open{{target.id, false}};
  while (!open.empty()) {
    const auto [id, is_new] = open.back();
    open.pop_back();
    const auto users = users_.find(id);
    if (users == users_.end())
      continue;
    for (const Item* user : users->second) {
      const bool is_way_new = is_new || TRY(is_new_need(*user, id));
      if (!seen.emplace(user->id, is_way_new).second)
        continue;
      open.emplace_back(user->id, is_way_new);
      if (is_way_new)
        found.push_back(user->id);
    }
  }
  return found;
}

Result<bool> Committer::is_new_need(const Item& item, const Name& need) {
  const Name& set = set_of(item.id);
  if (set.empty())
    return !TRY(is_held({key_of_needs(item.id), need.digest()}, false));
  const ContentPointer before = TRY(content_of({set, {}}));
  const Item* const old = before->find(item.id);
  return old == nullptr || !std::ranges::binary_search(old->needs, need);
}

/// Whether another set still says that a resource needs one that is new, since it was there once.
Result<bool> Committer::may_lead_to_new(const Item& item, const Name& need) {
  constexpr int most = 1000;
  return ++steps_ > most || TRY(is_held({key_of_needs(item.id), need.digest()}, true));
}

/// Whether the newest version is known to lead from one to the other.
Result<bool> Committer::was_way(const Name& from, const Name& to) {
  constexpr int most = 1000;
  std::unordered_set<Name> seen{from};
  std::vector<Name> open{from};
  while (!open.empty() && ++steps_ < most) {
    const Name id = open.back();
    open.pop_back();
    if (TRY(is_held({key_of_needs(id), to.digest()}, false)))
      return true;
    for (const Name& need : TRY(some_needs_before(id))) {
      if (need == to)
        return true;
      if (seen.insert(need).second)
        open.push_back(need);
    }
  }
  return false;
}

/// A few of them: sets are like one another.
Result<std::vector<Name>> Committer::some_needs_before(const Name& id) {
  constexpr size_t few = 4;
  std::vector<Piece> pieces;
  for (const Digest key : {key_of_item(id), key_of_needs(id)})
    TRY(newest_.holders(key, [&](Digest, const Piece& piece) {
      pieces.push_back(piece);
      return pieces.size() < few ? Go::next_value : Go::stop;
    }));
  std::vector<Name> needs;
  for (const Piece& piece : pieces)
    if (const Item* const item = TRY(content_of(piece))->find(id))
      needs.insert(needs.end(), item->needs.begin(), item->needs.end());
  return needs;
}

}  // namespace fettle
