#pragma once
/// What a model does against the guidelines of partial compiles, with its lines: owned resources
/// below shared instances, indexes of owned resources that do not follow from their service's
/// identity or an allocation, and sets that read what another set contributes.

#include "model/export/claims.h"
#include "value/value.h"

namespace fettle::model {

/// By set, a list of `{"rule", "text", "where"}`; at most a few of one kind for a set.
std::vector<std::pair<fettle::Name, Value>> findings_of(const Model& model,
                                                        const Ownership& ownership,
                                                        Identities& identities);

}  // namespace fettle::model
