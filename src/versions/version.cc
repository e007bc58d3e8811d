#include "versions/version.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "versions/versions.h"

namespace fettle {
namespace {

Digest tagged(std::string_view tag, Digest digest) { return combine(fingerprint(tag), digest); }

void add(Digest& chain, Digest next) { chain = combine(chain, next); }
void add(Digest& chain, const Name& next) { add(chain, next.digest()); }
void add(Digest& chain, uint64_t next) { add(chain, Digest{1, next}); }

Digest digest_of(const Content& content) {
  Digest chain = fingerprint("content");
  for (const Item& item : content.items) {
    add(chain, item.id);
    add(chain, item.attributes.digest());
    add(chain, uint64_t{item.is_shared} + 2 * uint64_t{item.is_undefined});
    for (const Name& need : item.needs)
      add(chain, need);
  }
  add(chain, content.items.size());
  for (const Claim& claim : content.claims) {
    add(chain, claim.key);
    add(chain, claim.value);
    add(chain, claim.limit * 2 + (claim.rule == Claim::Rule::bounded ? 1 : 0));
  }
  for (const Unknown& unknown : content.unknowns)
    for (const Name* name : {&unknown.resource, &unknown.parameter, &unknown.source})
      add(chain, *name);
  add(chain, content.findings.digest());
  return chain;
}

}  // namespace

std::optional<uint64_t> current_release(std::span<const VersionHead> heads) {
  const VersionHead* last = nullptr;
  for (const VersionHead& head : heads)
    if (head.released && (last == nullptr || *head.released >= *last->released))
      last = &head;
  return last == nullptr ? std::nullopt : std::optional(last->number);
}

const Item* Content::find(const Name& id) const {
  const auto place =
      std::lower_bound(items.begin(), items.end(), id,
                       [](const Item& item, const Name& to) { return item.id < to; });
  return place != items.end() && place->id == id ? &*place : nullptr;
}

ContentPointer seal(Content content) {
  std::sort(content.items.begin(), content.items.end(),
            [](const Item& a, const Item& b) { return a.id < b.id; });
  for (Item& item : content.items) {
    std::sort(item.needs.begin(), item.needs.end());
    item.needs.erase(std::unique(item.needs.begin(), item.needs.end()), item.needs.end());
  }
  std::sort(content.claims.begin(), content.claims.end(), [](const Claim& a, const Claim& b) {
    return a.key != b.key ? a.key < b.key : a.value < b.value;
  });
  const auto same = [](const Claim& a, const Claim& b) {
    return a.key == b.key && a.value == b.value;
  };
  content.claims.erase(std::unique(content.claims.begin(), content.claims.end(), same),
                       content.claims.end());
  content.digest = digest_of(content);
  return std::make_shared<const Content>(std::move(content));
}

Digest key_of_item(const Name& id) { return tagged("item", id.digest()); }
Digest key_of_needs(const Name& id) { return tagged("needs", id.digest()); }
Digest key_of_rest_with_needs() { return fingerprint("rest with needs"); }
Digest key_of_claim(const Name& key) { return tagged("claim", key.digest()); }

Digest value_of_item(const Piece& piece, const Item& item) {
  if (!item.is_shared)
    return tagged("owned", piece.set.digest());
  return tagged(item.is_undefined ? "undefined" : "shared", item.attributes.digest());
}

std::vector<IdentityEntry> holdings(const Piece& piece, const Content& content) {
  std::vector<IdentityEntry> found;
  found.reserve(content.items.size() + content.claims.size());
  for (const Item& item : content.items) {
    found.push_back({key_of_item(item.id), value_of_item(piece, item)});
    if (item.is_shared)
      for (const Name& need : item.needs)
        found.push_back({key_of_needs(item.id), need.digest()});
    if (piece.set.empty() && !item.needs.empty())
      found.push_back({key_of_rest_with_needs(), item.id.digest()});
  }
  for (const Claim& claim : content.claims)
    found.push_back({key_of_claim(claim.key), claim.value});
  return found;
}

namespace {

/// One of the pieces that hold it. None: it is not there.
Result<std::optional<Piece>> holder_of(const Snapshot& snapshot, const Name& id) {
  std::optional<Piece> found;
  TRY(snapshot.holders(key_of_item(id), [&](Digest, const Piece& piece) {
    found = piece;
    return Snapshot::Go::stop;
  }));
  return found;
}

}  // namespace

Result<std::vector<Name>> needs_in(const Snapshot& snapshot, const Name& id) {
  const std::optional<Piece> piece = TRY(holder_of(snapshot, id));
  const ContentPointer content = piece ? TRY(snapshot.content(*piece)) : nullptr;
  const Item* const item = content == nullptr ? nullptr : content->find(id);
  if (item == nullptr)
    return std::vector<Name>();
  std::map<Digest, Name> needs;
  const auto add = [&](const Item& of) {
    for (const Name& need : of.needs)
      needs.emplace(need.digest(), need);
  };
  add(*item);
  // Thousands of sets may share it; each of its needs is looked up once.
  std::vector<std::pair<Digest, Piece>> others;
  if (item->is_shared)
    TRY(snapshot.holders(key_of_needs(id), [&](Digest need, const Piece& other) {
      others.emplace_back(need, other);
      return Snapshot::Go::next_value;
    }));
  for (const auto& [digest, other] : others) {
    const ContentPointer more = needs.contains(digest) ? nullptr : TRY(snapshot.content(other));
    if (const Item* const same = more == nullptr ? nullptr : more->find(id))
      add(*same);
  }
  std::vector<Name> there;
  for (const auto& [digest, need] : needs)
    if (TRY(holder_of(snapshot, need)))
      there.push_back(need);
  std::ranges::sort(there);
  return there;
}

}  // namespace fettle
