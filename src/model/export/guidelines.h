#pragma once
/// Breaches of the guidelines of partial compiles, with their lines: owned resources below shared
/// instances, indexes and ids of owned resources that follow neither from their service's identity
/// nor from an allocation, and sets that read what another set contributes.

#include <functional>

#include "model/export/claims.h"
#include "model/export/service_identity.h"
#include "value/value.h"

namespace fettle::model {

/// A resource of a set, and what its id is made from.
struct OwnedResource {
  const Instance* instance;
  fettle::Name id;
  NamePart agent, value;
};

/// Calls a function with each resource of a set. There may be a million, so they are not kept.
using EachOwned = std::function<void(const std::function<void(const OwnedResource&)>&)>;

/// The findings by set, as lists of `{"rule", "text", "where"}`; at most a few of one kind for each
/// set.
std::vector<std::pair<fettle::Name, Value>> findings_of(const Model& model,
                                                        const Ownership& ownership,
                                                        Identities& identities,
                                                        const EachOwned& each_resource);

}  // namespace fettle::model
