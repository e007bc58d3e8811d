#pragma once
/// What is known of single resources, and why things were done: `why`, `show`, `drift`.

#include "core/step.h"
#include "verbs/workplace.h"

namespace fettle {

/// The keys that `what` may mean: `kind/name`, the name of a service or of anything else, or
/// `FILE:LINE` where it was declared. Errors: nothing fits (with a suggestion).
Result<std::vector<Key>> find_keys(const Workplace& place, const Name& environment,
                                   const std::string& what);

/// The same, and what was told of and never done.
Result<std::vector<Key>> find_keys_of_events(const Workplace& place, const Name& environment,
                                             const std::string& what);

/// The chain of reasons for the last thing that was done with a key, or kept it from being done,
/// back to the first cause: one line each.
Result<std::vector<std::string>> why(const Workplace& place, const Name& environment,
                                     const Key& key);

struct Drift {
  Key key;
  Verb verb = Verb::keep;
  std::string why;
};
/// What in the world is not as it was left.
Result<std::vector<Drift>> drift(const Workplace& place, const Name& environment);

}  // namespace fettle
