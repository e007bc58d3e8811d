#pragma once
/// What a sidecar takes from the containers of a pod, as expressions for an admission policy: the
/// same that `workloads/pods/sidecar_parts.h` computes for a pod of ours.

#include "value/value.h"

namespace fettle::cluster {

/// A variable of a policy: expressions after it may use it as `variables.NAME`.
struct PolicyVariable {
  std::string name, expression;
};

/// A list of a container that the pod makes longer.
struct Loan {
  Name field;                             ///< `volumeMounts`
  std::vector<PolicyVariable> variables;  ///< the last one is what is added
  std::string json;                       ///< the expression of the JSON of one, called `each`
  std::string added() const { return "variables." + variables.back().name; }
};

/// Of a container as a SidecarSet has it. `known`: the same as it is in the pod, without what is
/// lent. `name`: tells its variables from those of others. Needs `variables_for_loans`, and a
/// variable `own`: the containers of the pod that are no sidecars.
std::vector<Loan> loans_of(const Value& sidecar, const Value& known, std::string_view name);
/// What all loans are made from.
std::vector<PolicyVariable> variables_for_loans();

}  // namespace fettle::cluster
