#pragma once
/// From what a model built to what is exported: resources, the sets that they belong to, and what
/// each set contributes. Pure but for the functions of the declarations.
///
/// Everything is contributed by the set of the nearest instance in its construction chain, itself
/// included, that is in a set or constructs one; what has none is of the rest, the set with the
/// empty name.

#include "base/bytes.h"
#include "model/export/claims.h"
#include "model/export/declaration.h"
#include "versions/version.h"

namespace fettle::model {

/// What a set says about a resource that belongs to no set.
struct SharedBy {
  fettle::Name id;
  fettle::Name set;
  std::vector<fettle::Name> needs;
};

struct ExportResult {
  std::vector<Item> items;  ///< in the order of construction
  std::string bodies;       ///< of who only wants JSON: attributes, one object's after another
  std::vector<size_t> body_ends;                            ///< by item
  std::vector<std::pair<fettle::Name, fettle::Name>> sets;  ///< id of an item, its set
  std::vector<fettle::Name> emptied;                        ///< sets whose relation is empty
  /// Sets whose members are not exported, and where the sets are made.
  std::vector<std::pair<fettle::Name, std::string>> hollow;
  std::vector<SharedBy> shares;
  std::vector<ClaimedBy> claims;
  std::vector<Unknown> unknowns;
  std::vector<std::pair<fettle::Name, Value>> findings;  ///< by set: where it breaks a guideline
  std::vector<std::pair<fettle::Name, Value>> handlers;  ///< by type
  std::map<std::string, std::string> files;              ///< of serializers: base64 by SHA-1
  std::vector<std::string> warnings;
  /// How many instances of entities that are resources no type is declared for, by entity.
  std::map<std::string, size_t> undeclared;
};

/// Errors (`Blame::user`): an id is not valid or occurs twice, a resource is in two sets, needs
/// form a circle, or a field cannot be read. Shares, claims and findings are for versions. A caller
/// that only wants the resources as JSON gets neither these nor the sets, and the attributes only
/// as JSON in `bodies`.
Result<ExportResult> export_model(const Model& model, const Declarations& declarations,
                                  bool for_version);

/// Writes the resources as JSON, piece by piece: a list of dicts with `id` and `requires`, each id
/// with `,v=0`. For an export that was made for JSON.
Status write_resources(const ExportResult& exported, const ByteSink& write);

}  // namespace fettle::model
