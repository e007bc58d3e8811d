#include "verbs/environments/inventory.h"

#include "controller/manifests.h"
#include "workplace/machines.h"

namespace fettle {

Result<Inventory> take_inventory(const Workplace& place, const Name& environment) {
  Inventory inventory;
  const std::vector<VersionHead> heads = TRY(place.store->versions().heads(environment));
  for (const VersionHead& head : heads) {
    ++inventory.versions;
    inventory.is_fleet = is_of_fleet(head.detail);
    inventory.newest = std::max(inventory.newest, head.number);
  }
  inventory.released = current_release(heads).value_or(0);
  const Known known = TRY(place.store->known(environment));
  inventory.orphans = orphans_of(known, *place.kinds);
  for (const auto& [key, record] : known)
    inventory.resources += record->applied && !is_orphan(*record) ? 1 : 0;
  inventory.machine = TRY(machine_name(place, environment));
  return inventory;
}

}  // namespace fettle
