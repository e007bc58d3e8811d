/// Refuses claims of different sets that contradict each other.

#include <algorithm>

#include "base/text.h"
#include "value/json.h"
#include "versions/committer.h"

namespace fettle {

Status Committer::check_claims() {
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

std::pair<std::string, std::string> Committer::texts_that_differ(const Name& a, const Name& b) {
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

Status Committer::contradiction(const Claim& claim, const Name& set, const Piece& other) {
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

Status Committer::check_bound(const std::map<Digest, std::pair<const Claim*, Name>>& values) {
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

}  // namespace fettle
