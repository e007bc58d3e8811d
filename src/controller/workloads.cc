#include "controller/workloads.h"

#include "controller/cluster_source.h"
#include "controller/follower.h"
#include "controller/keeper.h"
#include "controller/store_source.h"

namespace fettle {

Result<bool> is_kept(const Workplace& place, const Name& environment) {
  const auto holder = TRY(place.store->holder(environment));
  return holder && holder->role == Holder::Role::controller;
}

Result<BringResult> bring_workloads(const Workplace& place, const Name& environment,
                                    const BringOptions& options) {
  if (!options.keeps && !TRY(place.store->environment(environment)))
    return BringResult();  // nothing was ever stored
  if (!options.keeps && TRY(is_kept(place, environment))) {
    place.tell("a controller keeps the workloads; following its progress");
    if (std::optional<BringResult> brought = TRY(Follower(place, environment, options).follow()))
      return *std::move(brought);
    place.tell("the controller has ended; carrying on without it");
  }
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment, options.wait_for_others));
  TRY(ensure_environment(place, *edit, Value::dict({})));
  StoreSource source(place, environment);
  return Keeper(place, source, *edit, options).bring();
}

Result<BringResult> bring_cluster(const Workplace& place, const ClusterAccess& access,
                                  const workloads::Gates& gates, const BringOptions& options) {
  ClusterSource source(place, access, "cluster", gates);
  return Keeper(place, source, source.edit(), options).bring();
}

}  // namespace fettle
