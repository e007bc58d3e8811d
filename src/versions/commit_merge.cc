/// A partial push beside what other sets have said: what it may not change, and what the rest
/// keeps.

#include <algorithm>

#include "base/text.h"
#include "versions/committer.h"

namespace fettle {

Status Committer::find_conflicts() {
  for (const auto& [piece, content] : pieces_)
    for (const Item& item : content.items) {
      const std::optional<Piece> other =
          TRY(other_holder(key_of_item(item.id), value_of_item(piece, item)));
      if (!other)
        continue;
      const Item* theirs = TRY(content_of(*other))->find(item.id);
      const bool is_shared = theirs == nullptr || theirs->is_shared;
      conflicts_.push_back({&item, piece, *other, is_shared,
                            is_shared && theirs != nullptr
                                ? difference_of(theirs->attributes, item.attributes)
                                : std::string()});
    }
  std::sort(conflicts_.begin(), conflicts_.end(),
            [](const Conflict& a, const Conflict& b) { return a.mine->id < b.mine->id; });
  return {};
}

Status Committer::report_conflict(bool other_shares, bool mine_is_shared) const {
  for (const Conflict& conflict : conflicts_) {
    if (conflict.other_shares != other_shares || conflict.mine->is_shared != mine_is_shared)
      continue;
    const std::string by = conflict.other.set.empty()
                               ? ""
                               : cat("; set `", printable(conflict.other.set), "` shares it");
    const std::string hint = by + conflict.difference + at(conflict.mine->origin);
    return user_error(mine_is_shared
                          ? words_.shared_changed(conflict.mine->id, hint)
                          : words_.shared_taken(conflict.mine->id, conflict.piece.set, hint));
  }
  return {};
}

Status Committer::check_edges() const {
  for (const Item& item : push_.items)
    if (const Name* need = foreign_need(item))
      return user_error(edge_text(item, *need));
  return {};
}

const Name* Committer::foreign_need(const Item& item) const {
  const Name& set = set_of(item.id);
  if (set.empty())
    return nullptr;
  for (const Name& need : item.needs)
    if (const Name& other = set_of(need); !other.empty() && other != set)
      return &need;
  return nullptr;
}

std::string Committer::edge_text(const Item& item, const Name& need) const {
  return cat(words_.need_between_sets(item.id, need), " (sets `", set_of(item.id), "` and `",
             set_of(need), "`)", places({item.id, need}));
}

std::string Committer::places(const std::vector<Name>& ids) const {
  std::vector<std::string> found;
  for (const Name& id : ids)
    if (const auto item = index_.find(id); item != index_.end() && !item->second->origin.empty())
      if (std::string place = item->second->origin.str();
          std::ranges::find(found, place) == found.end())
        found.push_back(std::move(place));
  return found.empty() ? "" : cat(" (", join(found, " and "), ")");
}

Status Committer::report_moves() const {
  std::string lines;
  for (const Conflict& conflict : conflicts_)
    if (!conflict.other_shares)
      lines +=
          cat("\n    ", conflict.mine->id, " moved from ", printable(conflict.other.set), " to ",
              conflict.piece.set.empty() ? "no resource set" : printable(conflict.piece.set),
              at(conflict.mine->origin));
  if (lines.empty())
    return {};
  return user_error(words_.moved(lines));
}

Status Committer::merge_rest() {
  TRY(find_lost());
  for (auto& [piece, content] : pieces_) {
    if (!piece.set.empty())
      continue;
    const ContentPointer before = TRY(content_of(piece));
    for (const Item& old : before->items) {
      const auto same = std::find_if(content.items.begin(), content.items.end(),
                                     [&](const Item& item) { return item.id == old.id; });
      if (same == content.items.end())
        content.items.push_back(old);
      else
        same->needs.insert(same->needs.end(), old.needs.begin(), old.needs.end());
    }
    for (Item& item : content.items)
      drop_lost_needs(item, before->find(item.id) != nullptr);
    content.claims.insert(content.claims.end(), before->claims.begin(), before->claims.end());
    for (const Unknown& old : before->unknowns)
      if (old.resource.empty() && !old.is_resolved)
        content.unknowns.push_back(old);
  }
  return drop_needs_of_removed();
}

}  // namespace fettle
