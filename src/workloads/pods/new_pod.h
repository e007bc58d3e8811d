#pragma once
/// Makes new pods and claims.

#include <functional>

#include "workloads/rollout.h"

namespace fettle::workloads {

/// The attributes of a new pod that has no node yet: its template, the labels that show its owner,
/// and its readiness gate. `labels` are those of its kind.
Pod new_pod(Rollout& rollout, const Revision& revision, std::string_view name,
            std::vector<Entry> labels);

/// The spec for which a node must have room: that of a new pod, with everything that SidecarSets
/// inject.
Value spec_to_place(Rollout& rollout, const Pod& pod);

/// Brings the attributes of pods up to date with users' labels and annotations and with the stored
/// ConfigMaps and Secrets.
void refresh_surroundings(Rollout& rollout);

/// How many pods the workload has on each node.
std::vector<int64_t> counts_on_nodes(const Rollout& rollout);

/// The claims of a pod, by volume: `TEMPLATE-SET-ID`; and the node on which one of them is.
struct PodClaims {
  Value by_volume;  ///< null: it has none
  Name node;        ///< empty: none is there yet
};
PodClaims claims_for(const Rollout& rollout, std::string_view suffix);

/// Emits the claims that pods have, and those that are kept for others. `keeps`: whether a claim
/// of this name that no pod has now stays; `retains`: whether it outlives its owner.
void emit_claims(Rollout& rollout, const std::function<bool(const Name& claim)>& keeps,
                 bool retains);

}  // namespace fettle::workloads
