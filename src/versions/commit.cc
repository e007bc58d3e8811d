#include "versions/commit.h"

#include <algorithm>

#include "base/difference.h"
#include "base/text.h"
#include "value/json.h"
#include "versions/circle.h"
#include "versions/committer.h"

namespace fettle {

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

std::string called(const Name& set) {
  return set.empty() ? "no set" : cat("set `", printable(set), "`");
}

std::string at(const Name& origin) { return origin.empty() ? "" : cat(" (", origin, ")"); }

std::string difference_of(const Value& before, const Value& after) {
  constexpr size_t most = 3, longest = 60;
  const auto shown = [](const Value& of, const std::string& path) {
    const Value* const found = follow(of, path);
    if (found == nullptr)
      return std::string("not set");
    return found->has_secret() ? std::string("hidden") : write_json(*found);
  };
  std::string text;
  for (const std::string& path : differences(before, after, most)) {
    const auto [there, here] =
        clipped_at_difference(shown(before, path), shown(after, path), longest);
    text += cat("; `", path, "` is ", there, " there and ", here, " here");
  }
  return text;
}

Result<Commit> Committer::run() {
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

const Name& Committer::set_of(const Name& id) const {
  static const Name none;
  const auto found = push_.sets.find(id);
  return found == push_.sets.end() ? none : found->second;
}

Status Committer::check_names() {
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

Status Committer::check_base() {
  if (newest_.number() == 0)
    return user_error(words_.no_base());
  if (push_.number)
    return user_error("a partial push cannot choose its version number");
  TRY(check_base_number());
  if (const std::string_view why = newest_.detail().text_at("unsuitable"); !why.empty())
    return user_error(words_.unsuitable_base(newest_.number(), why));
  return {};
}

Status Committer::check_base_number() const {
  if (push_.base && *push_.base > newest_.number())
    return user_error(cat("there is no version ", *push_.base, " to use as a base",
                          newest_.number() == 0 ? "; there are none yet"
                                                : cat("; the newest is ", newest_.number())));
  return {};
}

Status Committer::check_number() {
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

Status Committer::index_items() {
  index_.reserve(push_.items.size());
  for (const Item& item : push_.items)
    if (!index_.emplace(item.id, &item).second)
      return user_error(words_.pushed_twice(item.id));
  return {};
}

Status Committer::check_closed() const {
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

void Committer::build() {
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

Content& Committer::content_at(Piece piece) {
  if (last_ == nullptr || last_piece_ != piece) {
    last_ = &pieces_[piece];
    last_piece_ = std::move(piece);
  }
  return *last_;
}

Piece Committer::piece_of(const Name& set, const Name& name) {
  return set.empty() ? Piece{{}, name} : Piece{set, {}};
}

std::vector<Piece> Committer::pieces_of(
    const Name& id, const std::unordered_map<Name, std::vector<const Share*>>& shares) const {
  const auto found = shares.find(id);
  if (found == shares.end())
    return {piece_of(set_of(id), id)};
  std::vector<Piece> pieces;
  for (const Share* share : found->second)
    pieces.push_back(piece_of(share->set, id));
  return pieces;
}

bool Committer::is_touched(const Piece& piece) const {
  return !push_.is_partial || (!piece.set.empty() && touched_.contains(piece.set));
}

Result<std::optional<Piece>> Committer::other_holder(Digest key, Digest value) const {
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

Result<ContentPointer> Committer::content_of(const Piece& piece) {
  const auto found = contents_.find(piece);
  if (found != contents_.end())
    return found->second;
  ContentPointer content = TRY(newest_.content(piece));
  static const ContentPointer nothing = std::make_shared<const Content>();
  return contents_.emplace(piece, content ? std::move(content) : nothing).first->second;
}

/// Only what both have can differ: what is new changes no resource of another set, and what is not
/// told stays as it is.
Status Committer::check_code() const {
  const Value& before = newest_.detail().at("code");
  if (push_.may_change_code || !push_.code.is_dict() || !before.is_dict())
    return {};
  const auto version_of = [](const Value& code) {
    const Value* const version = code.find("version");
    return version == nullptr ? code : *version;
  };
  std::vector<std::string> changed;
  for (const Entry& entry : push_.code.entries())
    if (const Value* const older = before.find(entry.key);
        older != nullptr && version_of(*older) != version_of(entry.value))
      changed.push_back(entry.key.str());
  return changed.empty() ? Status() : user_error(words_.code_changed(join(changed, ", ")));
}

Status Committer::make_delta() {
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

Status Committer::digests_of_touched(std::map<Piece, Digest>& before) const {
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

Value Committer::detail() const {
  std::vector<Entry> entries(push_.detail.entries().begin(), push_.detail.entries().end());
  entries.push_back({"partial", push_.is_partial});
  if (push_.is_partial)
    for (const char* name : {"handlers", "files"})
      add_older(entries, name, push_.detail.at(name));
  if (push_.is_partial)
    add_older(entries, "code", push_.code);
  else
    entries.push_back({"code", push_.code});
  if (!push_.is_partial)
    for (const Item& item : push_.items)
      if (const Name* need = foreign_need(item)) {
        entries.push_back({"unsuitable", edge_text(item, *need)});
        break;
      }
  return Value::dict(std::move(entries));
}

void Committer::add_older(std::vector<Entry>& entries, std::string_view name,
                          const Value& mine) const {
  const Value& older = newest_.detail().at(name);
  std::vector<Entry> all;
  if (older.is_dict())
    all.assign(older.entries().begin(), older.entries().end());
  else if (!mine.is_dict())
    return;
  if (mine.is_dict())
    all.insert(all.end(), mine.entries().begin(), mine.entries().end());
  entries.push_back({Name(name), Value::dict(std::move(all))});
}

Status Committer::check_stale() const {
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
