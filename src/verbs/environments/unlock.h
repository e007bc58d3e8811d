#pragma once
/// Takes the right to act on an environment from somebody who will not give it back. In a shared
/// store that is a process whose machine is gone, or that stands still; in a file nobody needs it.

#include "workplace/workplace.h"

namespace fettle {

/// An environment, which need not be there yet, and who acts on it now.
struct Hindrance {
  Name environment;
  std::optional<Holder> holder;
};
/// Errors: nobody acts on it, and there is no such environment.
Result<Hindrance> find_hindrance(const Workplace& place, const std::string& name);

/// Takes the right from the holder. Its next write fails and says who took it, and an event in the
/// environment says from whom. Errors: those of `Store::take_away`.
Status force_unlock(const Workplace& place, const Name& environment, const Holder& holder);

}  // namespace fettle
