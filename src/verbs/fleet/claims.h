#pragma once
/// Claims of workloads: volumes on nodes that outlive the pods that use them.

#include "workplace/edit.h"

namespace fettle {

/// PersistentVolumeClaims as Kubernetes shows them, by namespace and name.
Result<std::vector<Value>> claims_of(const Workplace& place, const Name& environment);

/// Removes claims that no pod uses, with their contents. `claims`: `NAMESPACE/NAME`. Errors
/// (`Blame::user`): there is no such claim, or a pod or a stored workload uses it.
Result<Summary> remove_claims(const Workplace& place, const Name& environment,
                              const std::vector<std::string>& claims, bool wait);

}  // namespace fettle
