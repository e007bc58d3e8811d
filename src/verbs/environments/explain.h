#pragma once
/// Explains single resources, and why things were done: `why`, `show`, `drift`.

#include "core/step.h"
#include "workplace/workplace.h"

namespace fettle {

/// The keys that `what` may mean: `kind/name`, the name of a service or of anything else, or
/// `FILE:LINE` where it was declared. Errors: nothing fits (with a suggestion).
Result<std::vector<Key>> find_keys(const Workplace& place, const Name& environment,
                                   const std::string& what);

/// The same, and keys of events of things that were never done. A model's resource is also found by
/// the place where it is declared.
Result<std::vector<Key>> find_keys_of_events(const Workplace& place, const Name& environment,
                                             const std::string& what);

/// The standing of the resource of a record: `done`, `failed`, `held back`, `under way`, `not
/// finished` or `interrupted`. `is_at_work`: somebody acts on the environment just now.
std::string_view state_of(const Record& record, bool is_at_work);

/// A link in a chain of reasons: what was done with a key, and with what result.
struct Cause {
  Key key;
  Name origin;                    ///< where it is declared; empty: not known
  std::optional<Event> event;     ///< with the reason as its text; none: nothing was done to it
  std::optional<Event> outcome;   ///< of an act that began and did not succeed
  bool is_settled_since = false;  ///< it did not succeed, and a later run had nothing to do for it
};
/// `service/web (main.star:3:5) was created on 2026-…: new`
std::string to_string(const Cause& cause);
/// `it failed: …`. Empty: there is no outcome to report.
std::string outcome_text(const Cause& cause);
/// `a later run found it as it should be`. Empty: none did.
std::string since_text(const Cause& cause);

/// The chain of reasons for the last thing that was done with a key, or that kept it from being
/// done, back to the first cause.
Result<std::vector<Cause>> why(const Workplace& place, const Name& environment, const Key& key);
/// The same for many keys: the records are read once, just before.
Result<std::vector<Cause>> why(const Workplace& place, const Known& known, const Key& key);

struct Drift {
  Key key;
  Verb verb = Verb::keep;
  std::string why;
};
/// The things in the world that are not as fettle left them.
Result<std::vector<Drift>> drift(const Workplace& place, const Name& environment);

}  // namespace fettle
