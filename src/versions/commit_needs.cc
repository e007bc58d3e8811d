/// The needs of resources before and after a push. A shared resource may need one resource of each
/// of many thousand sets, so nothing here walks over all needs of one: only those are asked for
/// that the push can have changed.

#include <algorithm>

#include "versions/committer.h"

namespace fettle {

Result<bool> Committer::is_held(IdentityEntry holding, bool only_by_others) const {
  bool found = false;
  TRY(newest_.holders_of(holding, [&](const Piece& piece) {
    found = !only_by_others || !is_touched(piece);
    return found ? Go::stop : Go::on;
  }));
  return found;
}

Result<bool> Committer::any_holder(const Name& id) const {
  bool found = false;
  TRY(newest_.holders(key_of_item(id), [&](Digest, const Piece&) {
    found = true;
    return Go::stop;
  }));
  return found;
}

/// Finds what the sets of the push had and nobody has any more.
Status Committer::find_lost() {
  for (const Name& set : touched_)
    for (const Item& old : TRY(content_of({set, {}}))->items)
      if (!index_.contains(old.id) && !TRY(staying_holder(old.id)))
        lost_.push_back(old.id);
  std::ranges::sort(lost_);
  return {};
}

/// The target of a need was there when the newest version was made, so only the push can remove it.
void Committer::drop_lost_needs(Item& item, bool was_there) const {
  const auto pushed = index_.find(item.id);
  const std::vector<Name> none;
  std::vector<Name> asked = pushed == index_.end() ? none : pushed->second->needs;
  std::ranges::sort(asked);
  std::erase_if(item.needs, [&](const Name& need) {
    return !std::ranges::binary_search(asked, need) &&
           (!was_there || std::ranges::binary_search(lost_, need));
  });
}

Status Committer::drop_needs_of_removed() {
  if (lost_.empty())
    return {};
  std::vector<Piece> concerned;
  TRY(newest_.holders(key_of_rest_with_needs(), [&](Digest, const Piece& piece) {
    if (!pieces_.contains(piece))
      concerned.push_back(piece);
    return Go::on;
  }));
  for (const Piece& piece : concerned) {
    if (!TRY(may_need_lost(piece.name)))
      continue;
    Content after = *TRY(content_of(piece));
    bool is_changed = false;
    for (Item& item : after.items) {
      const size_t needs = item.needs.size();
      drop_lost_needs(item, true);
      is_changed |= item.needs.size() != needs;
    }
    if (is_changed)
      pieces_.emplace(piece, std::move(after));
  }
  return {};
}

Result<bool> Committer::may_need_lost(const Name& id) const {
  constexpr size_t few = 16;  // then it is cheaper to ask than to read
  if (lost_.size() > few)
    return true;
  for (const Name& lost : lost_)
    if (TRY(is_held({key_of_needs(id), lost.digest()}, false)))
      return true;
  return false;
}

Result<std::optional<Piece>> Committer::staying_holder(const Name& id) const {
  return other_holder(key_of_item(id), {});
}

Result<std::vector<Name>> Committer::needs_of(const Name& id) {
  std::vector<Name> needs;
  bool is_shared = false;
  if (const auto pushed = index_.find(id); pushed != index_.end()) {
    needs = pushed->second->needs;
    is_shared = set_of(id).empty();
  } else {
    const std::optional<Piece> piece = TRY(staying_holder(id));
    const Item* item = piece ? TRY(content_of(*piece))->find(id) : nullptr;
    if (item == nullptr)
      return needs;
    is_shared = item->is_shared;
    if (!is_shared)
      return item->needs;
  }
  if (is_shared)
    TRY(add_needs_of_others(id, needs));
  return needs;
}

Status Committer::add_needs_of_others(const Name& id, std::vector<Name>& needs) {
  std::vector<std::pair<Digest, Piece>> others;
  TRY(newest_.holders(key_of_needs(id), [&](Digest value, const Piece& piece) {
    if (is_touched(piece))
      return Go::on;
    others.emplace_back(value, piece);
    return Go::next_value;
  }));
  for (const auto& [value, piece] : others)
    if (const Item* item = TRY(content_of(piece))->find(id))
      for (const Name& need : item->needs)
        if (need.digest() == value)
          needs.push_back(need);
  return {};
}

/// The needs that a piece says of shared resources and did not say, or the other way round.
void Committer::note_said_needs(const Content* before, const Content* after) {
  static const std::vector<Name> none;
  const auto note = [&](const Content* of, const Content* other) {
    if (of == nullptr)
      return;
    for (const Item& item : of->items)
      if (item.is_shared) {
        const Item* const same = other == nullptr ? nullptr : other->find(item.id);
        std::ranges::set_difference(item.needs, same == nullptr ? none : same->needs,
                                    std::back_inserter(said_[item.id]));
      }
  };
  note(before, after);
  note(after, before);
}

Result<bool> Committer::needs_differ(const Name& id) {
  constexpr size_t many = 1000;  // so many may well be all that it needs
  if (!push_.is_partial || lost_.size() + new_.size() > many)
    return needs_differ_anywhere(id);
  for (const auto* names : {&said_[id], &lost_, &new_})
    for (const Name& need : *names)
      if (TRY(needs_before(id, need)) != TRY(needs_after(id, need)))
        return true;
  return false;
}

Result<bool> Committer::needs_before(const Name& id, const Name& need) const {
  return TRY(is_held({key_of_needs(id), need.digest()}, false)) && TRY(any_holder(need));
}

Result<bool> Committer::needs_after(const Name& id, const Name& need) const {
  const auto pushed = index_.find(id);
  const bool is_pushed = pushed != index_.end() && std::ranges::find(pushed->second->needs, need) !=
                                                       pushed->second->needs.end();
  return (is_pushed || TRY(is_held({key_of_needs(id), need.digest()}, true))) &&
         (index_.contains(need) || TRY(staying_holder(need)).has_value());
}

Result<bool> Committer::needs_differ_anywhere(const Name& id) {
  const std::vector<Name> before = TRY(needs_in(newest_, id));
  std::set<Name> after;
  for (const Name& need : TRY(needs_of(id)))
    if (index_.contains(need) || TRY(staying_holder(need)))
      after.insert(need);
  return !std::ranges::equal(before, after);
}

}  // namespace fettle
