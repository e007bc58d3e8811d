#pragma once
/// The life of a pod's containers.
///
/// Whether a pod is to be made, changed or started, the same happens. Everything with the pod's
/// marks is looked at, what belongs to another incarnation goes, and what is missing is made, in
/// this order: volumes, holder, init containers one after the other, containers. A container whose
/// digest differs is replaced, and the holder stays: the new one is created, the old one is told
/// and stopped, the new one is started, the old one is removed. So the next act finishes an
/// interrupted one, whatever that left, and nothing is done twice.
///
/// A pod is done when its containers run. A look shows whether they are ready (`pod_look.h`).

#include "drivers/engine/site.h"

namespace fettle {

/// For the verbs create, replace, update and start.
Result<Outcome> bring_pod(const Site& site, const Act& act, const ProgressSink& progress,
                          const std::stop_token& stop);
/// Ends its containers. The holder and what they have written stay.
Result<Outcome> stop_pod(const Site& site, const Act& act, const std::stop_token& stop);
Result<Outcome> remove_pod(const Site& site, const Act& act, const std::stop_token& stop);

/// Makes a volume that outlives the pods that use it.
Result<Outcome> make_claim(const Site& site, const Act& act, const std::stop_token& stop);
Result<Outcome> drop_claim(const Site& site, const Act& act, const std::stop_token& stop);

}  // namespace fettle
