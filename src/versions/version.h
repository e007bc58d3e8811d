#pragma once
/// WANTED, at rest. A version of an environment is an intent that waits to be carried out: for each
/// set the digest of what it contributes. Versions share the contents of the sets that nobody
/// touched.
///
/// A set contributes the resources that it owns, its say about resources that it shares with other
/// sets, and claims: everything that would be held against them if all sets were made at once. The
/// rest, the set with the empty name, is what no named set contributes; each of its resources is a
/// piece of its own, since a partial push may add to the rest and never replaces it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// A resource as it was pushed.
struct Item {
  Name id;                  ///< `fs::File[host,path=/etc/motd]`, without a version
  Value attributes;         ///< a dict; may hold unknowns
  std::vector<Name> needs;  ///< ids, sorted
  Name origin;              ///< `file:line:column`
  bool is_shared = false;   ///< belongs to no set
  bool is_undefined = false;
};

/// A statement that is compared with what other sets say under the same key.
struct Claim {
  enum class Rule : uint8_t {
    same,    ///< every set says the same
    bounded  ///< all sets together name at most `limit` different values
  };
  Name key;  ///< as errors print it: `std::AgentConfig(agentname=host_agent)`
  Digest value;
  Name text;  ///< the value for people
  Name origin;
  Rule rule = Rule::same;
  uint64_t limit = 0;
};

/// A value that nobody knew when the push was made.
struct Unknown {
  Name resource;  ///< id; may be empty
  Name parameter;
  Name source;
  bool is_resolved = false;
};

struct Content {
  std::vector<Item> items;    ///< sorted by id
  std::vector<Claim> claims;  ///< sorted by key and value
  std::vector<Unknown> unknowns;
  Value findings;  ///< what the guidelines say against the set, for `versions check`
  Digest digest;   ///< of everything but origins; see `seal`
  const Item* find(const Name& id) const;
};
using ContentPointer = std::shared_ptr<const Content>;

/// Sorts the content and makes its digest.
ContentPointer seal(Content content);

/// The key to which a version maps a content: a named set, or one piece of the rest.
struct Piece {
  Name set;
  Name name;  ///< of the rest: an id or the key of a claim
  auto operator<=>(const Piece&) const = default;
  bool operator==(const Piece&) const = default;
};
struct PieceHash {
  size_t operator()(const Piece& piece) const { return piece.set.hash() * 31 + piece.name.hash(); }
};

/// One entry of the identity index: the piece holds that value under this key.
struct IdentityEntry {
  Digest key;
  Digest value;
};
std::vector<IdentityEntry> holdings(const Piece& piece, const Content& content);
Digest key_of_item(const Name& id);
Digest key_of_needs(const Name& id);
/// Held, by their id, by all resources without a set that need something.
Digest key_of_rest_with_needs();
Digest key_of_claim(const Name& key);
/// The digest of what a piece says about an item.
Digest value_of_item(const Piece& piece, const Item& item);

/// A version as it is read. Everything but `pieces` costs what it answers, however many sets there
/// are.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual uint64_t number() const = 0;      ///< 0: nothing was ever pushed
  virtual const Value& detail() const = 0;  ///< what is kept with the version, a dict

  virtual Result<ContentPointer> content(const Piece& piece) const = 0;  ///< null: not there
  virtual Result<std::optional<Digest>> digest(const Piece& piece) const = 0;
  /// Visits the holders of a key, ordered by value; `visit` says whether to go on.
  enum class Go { on, next_value, stop };
  virtual Status holders(
      Digest key, const std::function<Go(Digest value, const Piece& piece)>& visit) const = 0;
  /// Visits the holders of this value of the key; `visit` says whether to go on.
  virtual Status holders_of(IdentityEntry holding,
                            const std::function<Go(const Piece& piece)>& visit) const = 0;
  /// Parts that later versions than `number` up to this one replaced, added or removed.
  virtual Result<std::vector<Piece>> touched_since(uint64_t number) const = 0;
  virtual Result<std::vector<std::pair<Piece, Digest>>> pieces() const = 0;
};

/// The needs of a resource in a version. For a shared one, all that its pieces say together,
/// without what is not there any more.
Result<std::vector<Name>> needs_in(const Snapshot& snapshot, const Name& id);

/// The change from one version to the next.
struct Delta {
  uint64_t number = 0;                                   ///< of the new version
  std::vector<std::pair<Piece, ContentPointer>> pieces;  ///< null: gone
  Value detail;
};

}  // namespace fettle
