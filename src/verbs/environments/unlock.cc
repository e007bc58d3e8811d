#include "verbs/environments/unlock.h"

#include "base/text.h"

namespace fettle {

Result<Hindrance> find_hindrance(const Workplace& place, const std::string& name) {
  const Name environment = TRY(name_of_environment(place, name));
  std::optional<Holder> holder = TRY(place.store->holder(environment));
  if (holder)
    return Hindrance{environment, std::move(holder)};
  return Hindrance{TRY(find_environment(place, name)).name, std::nullopt};
}

Status force_unlock(const Workplace& place, const Name& environment, const Holder& holder) {
  Event told;
  told.time = place.clock();
  told.type = EventType::unlocked;
  told.environment = environment;
  told.key.environment = environment;
  told.text = cat("the right to act was taken from ", to_string(holder));
  return place.store->take_away(environment, holder,
                                this_process(place.command, place.clock(), place.role), told);
}

}  // namespace fettle
