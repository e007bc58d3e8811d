#pragma once
/// The life of a pod's containers.
///
/// Whatever is asked for, making, changing or starting it, the same is done: what carries the
/// pod's marks is looked at, what belongs to another incarnation goes, and whatever is missing is
/// made, in this order: volumes, holder, init containers one after the other, containers. A
/// container whose digest differs is replaced beneath the holder: the new one is created, the old
/// one told and stopped, the new one started, the old one removed. So an act that was interrupted
/// is finished by the next one, from whatever it left, and nothing is done twice.
///
/// A pod is done when its containers run. Whether they are ready is seen (`pod_look.h`).

#include "drivers/engine/site.h"

namespace fettle {

/// Verbs create, replace, update and start.
Result<Outcome> bring_pod(const Site& site, const Act& act, const ProgressSink& progress,
                          const std::stop_token& stop);
/// Its containers end, the holder and what they have written stays.
Result<Outcome> stop_pod(const Site& site, const Act& act, const std::stop_token& stop);
Result<Outcome> remove_pod(const Site& site, const Act& act, const std::stop_token& stop);

/// A volume that outlives the pods that use it.
Result<Outcome> make_claim(const Site& site, const Act& act, const std::stop_token& stop);
Result<Outcome> drop_claim(const Site& site, const Act& act, const std::stop_token& stop);

}  // namespace fettle
