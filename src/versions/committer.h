#pragma once
/// Turns a push into the next version; `run` in `commit.cc` names the steps. `commit_merge.cc`
/// merges it with what other sets have said, `commit_needs.cc` works out the needs after that,
/// `commit_rules.cc` and `commit_circles.cc` refuse what all sets together must not say, and
/// `commit_changes.cc` notes the change of each resource.

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "versions/commit.h"

namespace fettle {

/// At most twenty names in backquotes.
std::string joined(const std::set<Name>& names);
/// The name of a set in messages; one without a name is "no set".
std::string called(const Name& set);
/// ` (file:line)`; empty without an origin.
std::string at(const Name& origin);
/// The attributes that differ, with both values.
std::string difference_of(const Value& before, const Value& after);

/// An item of the push about which another piece of the newest version says something else.
struct Conflict {
  const Item* mine;
  Piece piece;
  Piece other;
  bool other_shares;
  std::string difference;  ///< of the attributes of two shared ones; else empty
};

class Committer {
 public:
  Committer(const Snapshot& newest, Push push, Claims claims)
      : newest_(newest), push_(std::move(push)), claims_(std::move(claims)), words_(*push_.words) {}

  Result<Commit> run();

 private:
  using Go = Snapshot::Go;

  // commit.cc
  const Name& set_of(const Name& id) const;
  Status check_names();
  Status check_base();
  Status check_base_number() const;
  Status check_number();
  Status index_items();
  Status check_closed() const;
  /// The pieces of the push, not yet merged with what the rest has.
  void build();
  /// Often the same piece several times in a row.
  Content& content_at(Piece piece);
  static Piece piece_of(const Name& set, const Name& name);
  std::vector<Piece> pieces_of(
      const Name& id, const std::unordered_map<Name, std::vector<const Share*>>& shares) const;
  /// Whether the push replaces what a piece of the newest version says.
  bool is_touched(const Piece& piece) const;
  /// A piece of the newest version that stays and holds another value.
  Result<std::optional<Piece>> other_holder(Digest key, Digest value) const;
  Result<ContentPointer> content_of(const Piece& piece);
  Status check_code() const;
  Status make_delta();
  Status digests_of_touched(std::map<Piece, Digest>& before) const;
  Value detail() const;
  /// Adds what a dict in the newest version's detail says and the push does not.
  void add_older(std::vector<Entry>& entries, std::string_view name, const Value& mine) const;
  /// Equal contents never conflict: they are not in the delta.
  Status check_stale() const;

  // commit_merge.cc
  Status find_conflicts();
  Status report_conflict(bool other_shares, bool mine_is_shared) const;
  Status check_edges() const;
  /// A need of a set's resource that belongs to another set. Null: there is none.
  const Name* foreign_need(const Item& item) const;
  std::string edge_text(const Item& item, const Name& need) const;
  /// The places where these resources are declared, as far as they are pushed.
  std::string places(const std::vector<Name>& ids) const;
  Status report_moves() const;
  /// The rest is only ever added to.
  Status merge_rest();

  // commit_needs.cc
  /// Whether a piece of the newest version, or one that stays, holds it.
  Result<bool> is_held(IdentityEntry holding, bool only_by_others) const;
  Result<bool> any_holder(const Name& id) const;
  Result<std::optional<Piece>> staying_holder(const Name& id) const;
  Status find_lost();
  /// A need goes with its target: it does not come back when that is pushed again.
  void drop_lost_needs(Item& item, bool was_there) const;
  /// Drops needs of shared resources of which the push does not speak.
  Status drop_needs_of_removed();
  Result<bool> may_need_lost(const Name& id) const;
  /// The needs of a resource once the push is in.
  Result<std::vector<Name>> needs_of(const Name& id);
  Status add_needs_of_others(const Name& id, std::vector<Name>& needs);
  void note_said_needs(const Content* before, const Content* after);
  /// Each piece has only some of the needs of a shared resource.
  Result<bool> needs_differ(const Name& id);
  Result<bool> needs_differ_anywhere(const Name& id);
  Result<bool> needs_before(const Name& id, const Name& need) const;
  Result<bool> needs_after(const Name& id, const Name& need) const;

  // commit_circles.cc
  Status check_circles();
  Error circle_error(const std::vector<Name>& circle);
  /// Whether a new need may close a circle; false means that none does.
  Result<bool> may_close_circle();
  Result<std::vector<const Item*>> shared_with_other_needs() const;
  Result<bool> may_return(const Item& from);
  Result<std::vector<Name>> with_new_way_to(const Item& target);
  Result<bool> is_new_need(const Item& item, const Name& need);
  Result<bool> may_lead_to_new(const Item& item, const Name& need);
  Result<bool> was_way(const Name& from, const Name& to);
  Result<std::vector<Name>> some_needs_before(const Name& id);

  // commit_rules.cc
  Status check_claims();
  /// If both texts are JSON dicts, only the entries that differ; otherwise the texts themselves.
  static std::pair<std::string, std::string> texts_that_differ(const Name& a, const Name& b);
  Status contradiction(const Claim& claim, const Name& set, const Piece& other);
  Status check_bound(const std::map<Digest, std::pair<const Claim*, Name>>& values);

  // commit_changes.cc
  /// What became of which resource.
  Status describe();
  Status describe_item(const Piece& piece, const Item& item, const Content* before,
                       std::map<Name, SetChange>& changes, std::unordered_set<Name>& described);
  Status note_changes();
  /// The newest version's content of a piece. Null: it has none.
  Result<ContentPointer> before_of(const Piece& piece) const;
  Status describe_loss(const Piece& piece, const Item& old, std::map<Name, SetChange>& changes,
                       std::unordered_set<Name>& described);

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
  // The effects of a partial push on the needs of shared resources.
  std::vector<Name> lost_;                            ///< that nobody has any more; sorted
  std::vector<Name> new_;                             ///< that nobody had
  std::unordered_map<Name, std::vector<Name>> said_;  ///< that a piece says now, or said before
  std::unordered_map<Name, std::vector<const Item*>> users_;  ///< in the push
  int steps_ = 0;                                             ///< of looking for old ways
  Commit commit_;
};

}  // namespace fettle
