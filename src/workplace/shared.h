#pragma once
/// Things of the machine that are wanted more than once. A file that a model describes may be
/// described by files of states, too, in another environment or under another name in the same one:
/// if one of them no longer wants it, it stays for the others. Their keys differ, so its kind says
/// which things are the same (`Kind::place`).

#include "workplace/workplace.h"

namespace fettle {

/// Who else wants a thing.
struct Sharer {
  Key key;                 ///< in its own environment
  bool is_inside = false;  ///< it wants something below it
};
/// Words for a sentence that is shown in `environment`: `environment `b` wants it`.
std::string to_string(const Sharer& sharer, const Name& environment);

/// Who else wants a thing, by the key of the thing that is no longer wanted.
using Sharers = std::map<Key, Sharer>;

/// Things that the sets of `intent` know and no longer want, and that somebody else wants. Reads
/// other environments only if one of the things might be theirs.
Result<Sharers> shared_leftovers(const Workplace& place, const Intent& intent, const Known& known);

/// The orphans of an environment that somebody else wants.
Result<Sharers> shared_orphans(const Workplace& place, const Name& environment, const Known& known);

/// Makes a plan with these options leave things that others want.
void leave_to_others(const Sharers& shared, PlanOptions& options);

}  // namespace fettle
