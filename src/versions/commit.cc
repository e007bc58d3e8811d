#include "versions/commit.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/text.h"
#include "value/json.h"
#include "versions/circle.h"

namespace fettle {
namespace {

using Go = Snapshot::Go;

std::string joined(const std::set<Name>& names) {
  std::vector<std::string> quoted;
  for (const Name& name : names) {
    if (quoted.size() == 20) {
      quoted.push_back(cat("and ", names.size() - 20, " more"));
      break;
    }
    quoted.push_back(cat("`", name, "`"));
  }
  return join(quoted, ", ");
}

std::string called(const Name& set) { return set.empty() ? "no set" : cat("set `", set, "`"); }

std::string at(const Name& origin) { return origin.empty() ? "" : cat(" (", origin, ")"); }

/// An item of the push about which another piece of the newest version says something else.
struct Conflict {
  const Item* mine;
  Piece piece;
  Piece other;
  bool other_shares;
};

class Committer {
 public:
  Committer(const Snapshot& newest, Push push, Claims claims)
      : newest_(newest), push_(std::move(push)), claims_(std::move(claims)), words_(*push_.words) {}

  Result<Commit> run() {
    TRY(check_names());
    TRY(push_.is_partial ? check_base() : check_number());
    TRY(index_items());
    TRY(check_closed());
    build();
    if (push_.is_partial) {
      TRY(find_conflicts());
      TRY(report_conflict(true, false));
      TRY(check_edges());
      TRY(report_conflict(true, true));
      TRY(report_moves());
      TRY(check_code());
      TRY(merge_rest());
    }
    TRY(make_delta());
    TRY(check_stale());
    if (push_.is_partial)
      TRY(check_claims());
    TRY(check_circles());
    TRY(describe());
    return std::move(commit_);
  }

 private:
  const Name& set_of(const Name& id) const {
    static const Name none;
    const auto found = push_.sets.find(id);
    return found == push_.sets.end() ? none : found->second;
  }

  Status check_names() {
    std::unordered_set<Name> named;
    for (const auto& [id, set] : push_.sets)
      if (!set.empty())
        named.insert(set);
    std::set<Name> both;
    for (const Name& set : push_.removed) {
      if (set.empty())
        return user_error("resources without a set cannot be deleted as a set");
      if (named.contains(set))
        both.insert(set);
    }
    if (!both.empty())
      return user_error(words_.removed_and_pushed(joined(both)));
    for (const auto* sets : {&push_.removed, &push_.emptied})
      touched_.insert(sets->begin(), sets->end());
    touched_.insert(named.begin(), named.end());
    return {};
  }

  Status check_base() {
    if (newest_.number() == 0)
      return user_error(words_.no_base());
    if (push_.number)
      return user_error("a partial push cannot choose its version number");
    TRY(check_base_number());
    if (const std::string_view why = newest_.detail().text_at("unsuitable"); !why.empty())
      return user_error(words_.unsuitable_base(newest_.number(), why));
    return {};
  }

  Status check_base_number() const {
    if (push_.base && *push_.base > newest_.number())
      return user_error(cat("there is no version ", *push_.base,
                            " to use as a base; the newest is ", newest_.number()));
    return {};
  }

  Status check_number() {
    TRY(check_base_number());
    if (!push_.removed.empty())
      return user_error(words_.removed_by_full_push());
    if (!push_.number)
      return {};
    if (*push_.number == 0)
      return user_error("the version number must be above 0");
    if (*push_.number == newest_.number())
      return user_error(words_.number_taken(*push_.number));
    if (*push_.number < newest_.number())
      return user_error(cat("version ", *push_.number, " is stale: version ", newest_.number(),
                            " has been exported since"));
    return {};
  }

  Status index_items() {
    index_.reserve(push_.items.size());
    for (const Item& item : push_.items)
      if (!index_.emplace(item.id, &item).second)
        return user_error(words_.pushed_twice(item.id));
    return {};
  }

  Status check_closed() const {
    std::set<Name> strangers, dangling;
    for (const auto& [id, set] : push_.sets)
      if (!index_.contains(id))
        strangers.insert(id);
    if (!strangers.empty())
      return user_error(words_.sets_of_strangers(joined(strangers)));
    for (const Item& item : push_.items)
      for (const Name& need : item.needs)
        if (!index_.contains(need))
          dangling.insert(need);
    if (!dangling.empty())
      return user_error(words_.dangling_needs(joined(dangling)));
    return {};
  }

  /// The pieces of the push, not yet merged with what the rest has.
  void build() {
    std::unordered_map<Name, std::vector<const Share*>> shares;
    for (const Share& share : claims_.shares)
      shares[share.id].push_back(&share);
    for (const Item& item : push_.items) {
      Item made = item;
      const Name& set = set_of(item.id);
      made.is_shared = set.empty();
      if (!made.is_shared) {
        content_at({set, {}}).items.push_back(std::move(made));
        continue;
      }
      const auto found = shares.find(item.id);
      if (found == shares.end()) {
        pieces_[{{}, item.id}].items.push_back(std::move(made));
        continue;
      }
      for (const Share* share : found->second) {
        made.needs = share->needs;
        pieces_[piece_of(share->set, item.id)].items.push_back(made);
      }
    }
    for (SetClaim& claim : claims_.claims)
      content_at(piece_of(claim.set, claim.claim.key)).claims.push_back(std::move(claim.claim));
    for (const Unknown& unknown : push_.unknowns)
      for (const Piece& piece : pieces_of(unknown.resource, shares))
        pieces_[piece].unknowns.push_back(unknown);
    for (auto& [set, findings] : push_.findings)
      if (const auto piece = pieces_.find({set, {}}); piece != pieces_.end())
        piece->second.findings = findings;
  }

  /// Often the same piece several times in a row.
  Content& content_at(Piece piece) {
    if (last_ == nullptr || last_piece_ != piece) {
      last_ = &pieces_[piece];
      last_piece_ = std::move(piece);
    }
    return *last_;
  }

  static Piece piece_of(const Name& set, const Name& name) {
    return set.empty() ? Piece{{}, name} : Piece{set, {}};
  }

  std::vector<Piece> pieces_of(
      const Name& id, const std::unordered_map<Name, std::vector<const Share*>>& shares) const {
    const auto found = shares.find(id);
    if (found == shares.end())
      return {piece_of(set_of(id), id)};
    std::vector<Piece> pieces;
    for (const Share* share : found->second)
      pieces.push_back(piece_of(share->set, id));
    return pieces;
  }

  /// Whether the push replaces what a piece of the newest version says.
  bool is_touched(const Piece& piece) const {
    return !push_.is_partial || (!piece.set.empty() && touched_.contains(piece.set));
  }

  /// A piece of the newest version that stays and holds another value.
  Result<std::optional<Piece>> other_holder(Digest key, Digest value) const {
    std::optional<Piece> other;
    TRY(newest_.holders(key, [&](Digest held, const Piece& piece) {
      if (held == value)
        return Go::next_value;
      if (is_touched(piece))
        return Go::on;
      other = piece;
      return Go::stop;
    }));
    return other;
  }

  Status find_conflicts() {
    for (const auto& [piece, content] : pieces_)
      for (const Item& item : content.items) {
        const std::optional<Piece> other =
            TRY(other_holder(key_of_item(item.id), value_of_item(piece, item)));
        if (!other)
          continue;
        const Item* theirs = TRY(content_of(*other))->find(item.id);
        conflicts_.push_back({&item, piece, *other, theirs == nullptr || theirs->is_shared});
      }
    std::sort(conflicts_.begin(), conflicts_.end(),
              [](const Conflict& a, const Conflict& b) { return a.mine->id < b.mine->id; });
    return {};
  }

  Result<ContentPointer> content_of(const Piece& piece) {
    const auto found = contents_.find(piece);
    if (found != contents_.end())
      return found->second;
    ContentPointer content = TRY(newest_.content(piece));
    static const ContentPointer nothing = std::make_shared<const Content>();
    return contents_.emplace(piece, content ? std::move(content) : nothing).first->second;
  }

  Status report_conflict(bool other_shares, bool mine_is_shared) const {
    for (const Conflict& conflict : conflicts_) {
      if (conflict.other_shares != other_shares || conflict.mine->is_shared != mine_is_shared)
        continue;
      const std::string by =
          conflict.other.set.empty() ? "" : cat("; set `", conflict.other.set, "` shares it");
      const std::string hint = by + at(conflict.mine->origin);
      return user_error(mine_is_shared
                            ? words_.shared_changed(conflict.mine->id, hint)
                            : words_.shared_taken(conflict.mine->id, conflict.piece.set, hint));
    }
    return {};
  }

  Status check_edges() const {
    for (const Item& item : push_.items)
      if (const Name* need = foreign_need(item))
        return user_error(edge_text(item, *need));
    return {};
  }

  /// A need of a resource of a set that belongs to another set; none when there is none.
  const Name* foreign_need(const Item& item) const {
    const Name& set = set_of(item.id);
    if (set.empty())
      return nullptr;
    for (const Name& need : item.needs)
      if (const Name& other = set_of(need); !other.empty() && other != set)
        return &need;
    return nullptr;
  }

  std::string edge_text(const Item& item, const Name& need) const {
    return cat(words_.need_between_sets(item.id, need), " (sets `", set_of(item.id), "` and `",
               set_of(need), "`)", places({item.id, need}));
  }

  /// Where these resources are declared, as far as they are pushed.
  std::string places(const std::vector<Name>& ids) const {
    std::vector<std::string> found;
    for (const Name& id : ids)
      if (const auto item = index_.find(id); item != index_.end() && !item->second->origin.empty())
        if (std::string place = item->second->origin.str();
            std::ranges::find(found, place) == found.end())
          found.push_back(std::move(place));
    return found.empty() ? "" : cat(" (", join(found, " and "), ")");
  }

  Status report_moves() const {
    std::string lines;
    for (const Conflict& conflict : conflicts_)
      if (!conflict.other_shares)
        lines += cat("\n    ", conflict.mine->id, " moved from ", conflict.other.set, " to ",
                     conflict.piece.set.empty() ? Name("no resource set") : conflict.piece.set,
                     at(conflict.mine->origin));
    if (lines.empty())
      return {};
    return user_error(words_.moved(lines));
  }

  Status check_code() const {
    const Value& before = newest_.detail().at("code");
    if (push_.may_change_code || push_.code.is_null() || before.is_null() || before == push_.code)
      return {};
    return user_error(words_.code_changed(join(differences(before, push_.code), ", ")));
  }

  /// The rest is only ever added to.
  Status merge_rest() {
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
        TRY(drop_lost_needs(item, before->find(item.id)));
      content.claims.insert(content.claims.end(), before->claims.begin(), before->claims.end());
      for (const Unknown& old : before->unknowns)
        if (old.resource.empty() && !old.is_resolved)
          content.unknowns.push_back(old);
    }
    return drop_needs_of_removed();
  }

  /// A need goes with its target: it does not come back when that is pushed again.
  Status drop_lost_needs(Item& item, const Item* before) {
    std::vector<Name> kept;
    for (Name& need : item.needs) {
      const auto pushed = index_.find(item.id);
      const bool is_asked_for =
          pushed != index_.end() &&
          std::ranges::find(pushed->second->needs, need) != pushed->second->needs.end();
      const bool was_there = before != nullptr && TRY(any_holder(need));
      if (is_asked_for ||
          (was_there && (index_.contains(need) || TRY(staying_holder(need)).has_value())))
        kept.push_back(std::move(need));
    }
    item.needs = std::move(kept);
    return {};
  }

  /// Those of shared resources that the push does not speak of.
  Status drop_needs_of_removed() {
    if (!TRY(removes_any()))
      return {};
    std::vector<Piece> concerned;
    TRY(newest_.holders(key_of_rest_with_needs(), [&](Digest, const Piece& piece) {
      if (!pieces_.contains(piece))
        concerned.push_back(piece);
      return Go::on;
    }));
    for (const Piece& piece : concerned) {
      const ContentPointer before = TRY(content_of(piece));
      Content after = *before;
      bool is_changed = false;
      for (Item& item : after.items) {
        const size_t needs = item.needs.size();
        TRY(drop_lost_needs(item, &item));
        is_changed |= item.needs.size() != needs;
      }
      if (is_changed)
        pieces_.emplace(piece, std::move(after));
    }
    return {};
  }

  /// Whether a set loses a resource.
  Result<bool> removes_any() {
    for (const Name& set : touched_)
      for (const Item& old : TRY(content_of({set, {}}))->items)
        if (!index_.contains(old.id))
          return true;
    return false;
  }

  Result<bool> any_holder(const Name& id) const {
    bool found = false;
    TRY(newest_.holders(key_of_item(id), [&](Digest, const Piece&) {
      found = true;
      return Go::stop;
    }));
    return found;
  }

  Status make_delta() {
    commit_.delta.number = push_.number.value_or(newest_.number() + 1);
    std::map<Piece, Digest> before;
    if (push_.is_partial)
      TRY(digests_of_touched(before));
    else
      for (auto& [piece, digest] : TRY(newest_.pieces()))
        before.emplace(piece, digest);
    for (auto& [piece, content] : pieces_) {
      ContentPointer sealed = seal(std::move(content));
      const auto old = before.find(piece);
      const bool is_kept = old != before.end() && old->second == sealed->digest;
      commit_.kept_sets += is_kept && !piece.set.empty() ? 1 : 0;
      if (!is_kept)
        commit_.delta.pieces.emplace_back(piece, std::move(sealed));
    }
    for (const auto& [piece, digest] : before)
      if (!pieces_.contains(piece))
        commit_.delta.pieces.emplace_back(piece, nullptr);
    std::sort(commit_.delta.pieces.begin(), commit_.delta.pieces.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    commit_.delta.detail = detail();
    return {};
  }

  Status digests_of_touched(std::map<Piece, Digest>& before) const {
    std::vector<Piece> pieces;
    for (const auto& [piece, content] : pieces_)
      pieces.push_back(piece);
    for (const Name& set : touched_)
      pieces.push_back({set, {}});
    for (Piece& piece : pieces)
      if (const std::optional<Digest> digest = TRY(newest_.digest(piece)))
        before.emplace(std::move(piece), *digest);
    return {};
  }

  Value detail() const {
    std::vector<Entry> entries(push_.detail.entries().begin(), push_.detail.entries().end());
    entries.push_back({"partial", push_.is_partial});
    if (push_.is_partial)
      add_older(entries, "handlers");
    const Value& code = push_.code.is_null() ? newest_.detail().at("code") : push_.code;
    entries.push_back({"code", code});
    if (!push_.is_partial)
      for (const Item& item : push_.items)
        if (const Name* need = foreign_need(item)) {
          entries.push_back({"unsuitable", edge_text(item, *need)});
          break;
        }
    return Value::dict(std::move(entries));
  }

  /// What the newest version says in a dict of its detail and the push does not.
  void add_older(std::vector<Entry>& entries, std::string_view name) const {
    const Value& older = newest_.detail().at(name);
    if (!older.is_dict())
      return;
    std::vector<Entry> all(older.entries().begin(), older.entries().end());
    const Value& mine = push_.detail.at(name);
    if (mine.is_dict())
      all.insert(all.end(), mine.entries().begin(), mine.entries().end());
    entries.push_back({Name(name), Value::dict(std::move(all))});
  }

  /// Equal contents never conflict: they are not in the delta.
  Status check_stale() const {
    if (!push_.base || *push_.base == newest_.number())
      return {};
    std::set<Piece> mine;
    for (const auto& [piece, content] : commit_.delta.pieces)
      if (!piece.set.empty() || !push_.is_partial)
        mine.insert(piece);
    std::set<Name> both;
    for (const Piece& piece : TRY(newest_.touched_since(*push_.base)))
      if (mine.contains(piece))
        both.insert(piece.set.empty() ? piece.name : piece.set);
    if (both.empty())
      return {};
    return user_error(words_.stale(*push_.base, newest_.number(), joined(both)));
  }

  Status check_claims() {
    std::map<Name, std::map<Digest, std::pair<const Claim*, Name>>> bounded;
    for (const auto& [piece, content] : commit_.delta.pieces) {
      if (content == nullptr)
        continue;
      for (const Claim& claim : content->claims) {
        if (claim.rule == Claim::Rule::bounded) {
          bounded[claim.key].emplace(claim.value, std::pair(&claim, piece.set));
          continue;
        }
        if (const std::optional<Piece> other =
                TRY(other_holder(key_of_claim(claim.key), claim.value)))
          return contradiction(claim, piece.set, *other);
      }
    }
    for (const auto& [key, values] : bounded)
      TRY(check_bound(values));
    return {};
  }

  /// Of two dicts in JSON only the entries that differ; anything else as it is.
  static std::pair<std::string, std::string> texts_that_differ(const Name& a, const Name& b) {
    const Result<Value> first = read_json(a), second = read_json(b);
    if (!first || !second || !first->is_dict() || !second->is_dict() || *first == *second)
      return {a.str(), b.str()};
    const auto only = [](const Value& of, const Value& other) {
      std::vector<std::string> texts;
      for (const Entry& entry : of.entries())
        if (const Value* same = other.find(entry.key); same == nullptr || *same != entry.value)
          texts.push_back(cat(entry.key, " = ", write_json(entry.value)));
      return texts.empty() ? std::string("nothing of that") : join(texts, ", ");
    };
    return {only(*first, *second), only(*second, *first)};
  }

  Status contradiction(const Claim& claim, const Name& set, const Piece& other) {
    const ContentPointer content = TRY(content_of(other));
    for (const Claim& theirs : content->claims)
      if (theirs.key == claim.key) {
        const auto [mine, others] = texts_that_differ(claim.text, theirs.text);
        return user_error(cat(words_.contradiction(called(set), called(other.set)), ": ", claim.key,
                              " has ", mine, " in ", called(set), at(claim.origin), " and ", others,
                              " in ", called(other.set), at(theirs.origin)));
      }
    return Error(Blame::bug, cat("the index holds a claim `", claim.key, "` that no set makes"));
  }

  Status check_bound(const std::map<Digest, std::pair<const Claim*, Name>>& values) {
    const auto& [claim, set] = values.begin()->second;
    std::set<Digest> all;
    for (const auto& [value, mine] : values)
      all.insert(value);
    // A set of the push that is as it was still holds its members.
    std::unordered_set<Piece, PieceHash> replaced;
    for (const auto& [piece, content] : commit_.delta.pieces)
      replaced.insert(piece);
    std::optional<Piece> other;
    TRY(newest_.holders(key_of_claim(claim->key), [&](Digest value, const Piece& piece) {
      if (replaced.contains(piece))
        return Go::on;
      if (all.insert(value).second)
        other = piece;
      return all.size() > claim->limit ? Go::stop : Go::next_value;
    }));
    if (all.size() <= claim->limit || !other)
      return {};
    return user_error(cat(words_.contradiction(called(set), called(other->set)), ": ", claim->key,
                          " takes at most ", claim->limit,
                          claim->limit == 1 ? " element" : " elements", at(claim->origin)));
  }

  Status check_circles() {
    if (!push_.is_partial) {
      if (std::optional<Error> circle = find_cycle(push_.items))
        return std::move(*circle);
      return {};
    }
    CircleSearch search([this](const Name& id) { return needs_of(id); });
    for (const Item& item : push_.items) {
      const std::vector<Name> circle = TRY(search.from(item.id));
      if (!circle.empty())
        return circle_error(circle);
    }
    return {};
  }

  Error circle_error(const std::vector<Name>& circle) {
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

  Result<std::optional<Piece>> staying_holder(const Name& id) const {
    return other_holder(key_of_item(id), {});
  }

  /// What a resource needs once the push is in.
  Result<std::vector<Name>> needs_of(const Name& id) {
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

  Status add_needs_of_others(const Name& id, std::vector<Name>& needs) {
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

  /// What became of which resource.
  Status describe() {
    std::map<Name, SetChange> changes;
    std::unordered_set<Name> described;  // shared ones, that several sets tell about
    for (const auto& [piece, content] : commit_.delta.pieces) {
      const ContentPointer before = newest_.number() == 0 ? nullptr : TRY(newest_.content(piece));
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

  Status describe_item(const Piece& piece, const Item& item, const Content* before,
                       std::map<Name, SetChange>& changes, std::unordered_set<Name>& described) {
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
    else if (old->attributes != item.attributes ||
             (item.is_shared ? TRY(needs_differ(item.id)) : old->needs != item.needs))
      changes[set].changed.push_back(item.id);
    return {};
  }

  /// Of a shared resource each piece tells only some of its needs.
  Result<bool> needs_differ(const Name& id) {
    const std::vector<Name> before = TRY(needs_in(newest_, id));
    std::set<Name> after;
    for (const Name& need : TRY(needs_of(id)))
      if (index_.contains(need) || TRY(staying_holder(need)))
        after.insert(need);
    return !std::ranges::equal(before, after);
  }

  Status describe_loss(const Piece& piece, const Item& old, std::map<Name, SetChange>& changes,
                       std::unordered_set<Name>& described) {
    if (!old.is_shared) {
      changes[piece.set].removed.push_back(old.id);
      return {};
    }
    const auto pushed = index_.find(old.id);
    if ((pushed != index_.end() && set_of(old.id).empty()) || described.contains(old.id))
      return {};
    if (push_.is_partial && TRY(staying_holder(old.id)))
      return {};
    if (described.insert(old.id).second)
      changes[{}].removed.push_back(old.id);
    return {};
  }

  const Snapshot& newest_;
  Push push_;
  Claims claims_;
  const CommitWords& words_;
  std::unordered_set<Name> touched_;  ///< named sets that are replaced or removed
  std::unordered_map<Name, const Item*> index_;
  std::map<Piece, Content> pieces_;
  Piece last_piece_;  ///< that was asked for, and its content
  Content* last_ = nullptr;
  std::unordered_map<Piece, ContentPointer, PieceHash> contents_;  ///< of the newest version
  std::vector<Conflict> conflicts_;
  Commit commit_;
};

}  // namespace

Result<Commit> commit(const Snapshot& newest, Push push, Claims claims) {
  return Committer(newest, std::move(push), std::move(claims)).run();
}

std::optional<Error> find_cycle(std::span<const Item> items) {
  // Only what needs something can be on a circle.
  std::unordered_map<Name, const Item*> index;
  for (const Item& item : items)
    if (!item.needs.empty())
      index.emplace(item.id, &item);
  CircleSearch search([&](const Name& id) -> Result<std::vector<Name>> {
    const auto found = index.find(id);
    return found == index.end() ? std::vector<Name>() : found->second->needs;
  });
  for (const Item& item : items)
    if (!item.needs.empty())
      if (const Result<std::vector<Name>> circle = search.from(item.id); circle && !circle->empty())
        return user_error(cat("Dependency cycle: ", circle_text(*circle), at(item.origin)));
  return std::nullopt;
}

}  // namespace fettle
