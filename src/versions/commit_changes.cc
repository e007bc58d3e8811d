/// Notes the change of each resource.

#include <algorithm>

#include "versions/committer.h"

namespace fettle {

Status Committer::describe() {
  std::map<Name, SetChange> changes;
  std::unordered_set<Name> described;  // shared ones, that several sets tell about
  if (push_.is_partial)
    TRY(note_changes());
  for (const auto& [piece, content] : commit_.delta.pieces) {
    const ContentPointer before = TRY(before_of(piece));
    if (content != nullptr)
      for (const Item& item : content->items)
        TRY(describe_item(piece, item, before.get(), changes, described));
    if (before != nullptr)
      for (const Item& old : before->items)
        if (content == nullptr || content->find(old.id) == nullptr)
          TRY(describe_loss(piece, old, changes, described));
  }
  for (auto& [set, change] : changes) {
    change.set = set;
    commit_.changes.push_back(std::move(change));
  }
  return {};
}

Result<ContentPointer> Committer::before_of(const Piece& piece) const {
  const auto known = contents_.find(piece);
  if (known != contents_.end())
    return known->second;
  return newest_.number() == 0 ? ContentPointer() : TRY(newest_.content(piece));
}

/// Notes what may have changed the needs of shared resources.
Status Committer::note_changes() {
  for (const Item& item : push_.items)
    if (!TRY(any_holder(item.id)))
      new_.push_back(item.id);
  for (const auto& [piece, content] : commit_.delta.pieces)
    note_said_needs(TRY(before_of(piece)).get(), content.get());
  return {};
}

Status Committer::describe_item(const Piece& piece, const Item& item, const Content* before,
                                std::map<Name, SetChange>& changes,
                                std::unordered_set<Name>& described) {
  if (item.is_shared && !described.insert(item.id).second)
    return {};
  const Name set = item.is_shared ? Name() : piece.set;
  const Item* old = before == nullptr ? nullptr : before->find(item.id);
  if (old == nullptr && item.is_shared && newest_.number() != 0) {
    std::optional<Piece> holder;
    TRY(newest_.holders(key_of_item(item.id), [&](Digest, const Piece& found) {
      holder = found;
      return Go::stop;
    }));
    if (holder)
      old = TRY(content_of(*holder))->find(item.id);
  }
  if (old == nullptr || old->is_shared != item.is_shared)
    changes[set].added.push_back(item.id);
  else if (old->attributes != item.attributes || old->is_undefined != item.is_undefined ||
           (item.is_shared ? TRY(needs_differ(item.id)) : old->needs != item.needs))
    changes[set].changed.push_back(item.id);
  return {};
}

Status Committer::describe_loss(const Piece& piece, const Item& old,
                                std::map<Name, SetChange>& changes,
                                std::unordered_set<Name>& described) {
  if (!old.is_shared) {
    changes[piece.set].removed.push_back(old.id);
    return {};
  }
  const auto pushed = index_.find(old.id);
  if ((pushed != index_.end() && set_of(old.id).empty()) || described.contains(old.id))
    return {};
  if (push_.is_partial && TRY(staying_holder(old.id))) {
    if (TRY(needs_differ(old.id)) && described.insert(old.id).second)
      changes[{}].changed.push_back(old.id);
    return {};
  }
  if (described.insert(old.id).second)
    changes[{}].removed.push_back(old.id);
  return {};
}

}  // namespace fettle
