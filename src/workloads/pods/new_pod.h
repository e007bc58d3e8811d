#pragma once
/// Pods and claims as they are made.

#include "workloads/rollout.h"

namespace fettle::workloads {

/// The attributes of a new pod that has no node yet: its template, the labels that say whose it is,
/// and its readiness gate. `labels` are those of its kind.
Value new_pod(Rollout& rollout, const Revision& revision, std::string_view name,
              std::vector<Entry> labels);

/// What a node must have room for: the spec of a new pod, with what SidecarSets inject.
Value spec_to_place(Rollout& rollout, const Value& pod);

/// The attributes with the labels, annotations, ConfigMaps and Secrets of now: what users changed
/// about a pod, and what they stored since.
void refresh_surroundings(Rollout& rollout);

/// How many pods the workload has on each node.
std::vector<int64_t> counts_on_nodes(const Rollout& rollout);

/// The claims of a pod, by volume: `TEMPLATE-SET-ID`; and the node on which one of them is.
struct PodClaims {
  Value by_volume;  ///< null: it has none
  Name node;        ///< empty: none is there yet
};
PodClaims claims_for(const Rollout& rollout, std::string_view suffix);

/// Emits the claims that pods have, and those that are kept for others.
/// `keeps`: whether a claim without a pod stays; `retains`: whether it outlives its owner.
void emit_claims(Rollout& rollout, bool keeps, bool retains);

}  // namespace fettle::workloads
