#pragma once
/// Edits of stored manifests by commands. Each edit is a wish: it changes what is stored, in one
/// version, and whoever acts on the fleet carries it out.

#include "controller/fleet_access.h"

namespace fettle {

using Edits = Result<std::vector<StoredObject>>;

/// Owners are called `CloneSet/NAMESPACE/NAME`. Errors (`Blame::user`) of all these functions:
/// there is no such object, or it has no such thing. `current`: an error unless there are that many
/// now; none: any number will do.
Edits scale_workloads(const Workplace& place, const Name& environment,
                      const std::vector<Name>& owners, int64_t replicas,
                      std::optional<int64_t> current = std::nullopt);
/// `images`: container: reference. `*` means every other container.
Edits set_images(const Workplace& place, const Name& environment, const Name& owner,
                 const std::vector<Entry>& images);
/// `field`: `labels` or `annotations`. `owners` are objects, or pods as `Pod/NAMESPACE/NAME`.
/// `entries`: key: text, or null to remove the key.
Edits put_metadata(const Workplace& place, const Name& environment, const std::vector<Name>& owners,
                   std::string_view field, const std::vector<Entry>& entries, bool overwrite);
/// Deletes pods as `kubectl delete pod` does: at once, whatever that costs. Their owners make
/// others. `may_be_gone`: a pod that no longer exists is no error.
Edits delete_pods(const Workplace& place, const Name& environment, const std::vector<Name>& pods,
                  bool may_be_gone = false);

Edits pause_rollout(FleetAccess& fleet, const Name& owner, bool pause);
/// Goes back to a revision by its number; 0: the one before.
Edits undo_rollout(FleetAccess& fleet, const Name& owner, int64_t revision);
Edits restart_rollout(FleetAccess& fleet, const Name& owner);

}  // namespace fettle
