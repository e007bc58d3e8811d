#pragma once
/// The claims of a set: all that one compile of all sets together would compare. For every instance
/// in an index these are its type, all its keys and its values; for relations with a bound, their
/// members.

#include <map>
#include <tuple>

#include "model/export/ownership.h"
#include "versions/version.h"

namespace fettle::model {

/// Names an instance in the same way in every compile that contains it.
class Identities {
 public:
  Identities(const Model& model, const Ownership& ownership)
      : model_(model), ownership_(ownership), names_(model.instances().size()) {}
  /// The name of an instance: by its first index, else by who made it where.
  const fettle::Name& of(const Instance& instance);
  /// `ns::Host(network=ns::Network(id=1), id=2)`: by one index.
  std::string by_index(const Instance& instance, const Index& index);
  std::string text(const Datum& value);
  /// `file:line:column`, as one shared text for all that stands there.
  const fettle::Name& origin(Place at);

 private:
  std::string anonymous(const Instance& instance);

  const Model& model_;
  const Ownership& ownership_;
  std::vector<fettle::Name> names_;  ///< by number of instance; empty: not asked for yet
  std::unordered_map<std::string, uint32_t> anonymous_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, fettle::Name> origins_;
  int depth_ = 0;
};

struct ClaimedBy {
  fettle::Name set;
  Claim claim;
};

std::vector<ClaimedBy> claims_of(const Model& model, const Ownership& ownership,
                                 Identities& identities);

}  // namespace fettle::model
