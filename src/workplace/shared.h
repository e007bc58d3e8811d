#pragma once
/// Things of the machine that more than one wants. A file that a model describes may be described
/// by files of states, too, in another environment or under another name in the same one: whoever
/// no longer wants it leaves it to the others. What is the same thing is asked of its kind
/// (`Kind::place`), for keys differ.

#include "workplace/workplace.h"

namespace fettle {

/// Who else wants a thing.
struct Sharer {
  Key key;                 ///< in its own environment
  bool is_inside = false;  ///< it wants something below it
};
/// For a sentence that is told in `environment`: `environment `b` wants it`.
std::string to_string(const Sharer& sharer, const Name& environment);

/// By what is no longer wanted.
using Shared = std::map<Key, Sharer>;

/// What the sets of `intent` know and no longer want, and somebody else wants. Reads other
/// environments only when there is such a thing that could be theirs.
Result<Shared> shared_leftovers(const Workplace& place, const Intent& intent, const Known& known);

/// The orphans of an environment that somebody else wants.
Result<Shared> shared_orphans(const Workplace& place, const Name& environment, const Known& known);

/// A plan with these options does not remove what others want.
void leave_to_others(const Shared& shared, PlanOptions& options);

}  // namespace fettle
