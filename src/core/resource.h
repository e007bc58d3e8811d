#pragma once
/// WANTED. One wanted thing with its needs, and the whole output of a front end: an `Intent`. An
/// action (run this command, wait for that port) is a resource, too; its observation is its own
/// record.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/key.h"
#include "core/payload.h"
#include "core/verb.h"

namespace fettle {

/// When a need is met. `changed`, `stirred` and `failed` also decide whether the resource is due at
/// all; a resource that a failure kept from running counts as failed. `stirred` is a change, also
/// by an act that failed in the end.
enum class When { succeeded, changed, failed, finished, stirred };

/// The fate of a resource whose need is not met: it cannot be as wanted; or, if the event that it
/// waits for did not happen, it is not needed in this run.
enum class Unmet { fail, skip };

/// How a need binds.
enum class Bond {
  order,    ///< after it, nothing else
  refresh,  ///< act again when the need changed
  inside,   ///< happens within the need and dies with its incarnation
  past,     ///< uses the need as it was before this run acts on it
};

struct Need {
  std::vector<Key> keys;
  bool any = false;  ///< one of `keys` is enough, else all
  When when = When::succeeded;
  Unmet unmet = Unmet::fail;
  Bond bond = Bond::order;
};

/// How long to pause before looking again at a pending act: `shortest` each time; anything from
/// `shortest` to `longest`, both included, in steps of `unit`; or `shortest * factor^n`.
enum class Wait { fixed, random, exponential };

/// How a pause p is varied, so that many acts do not return at the same moment: not at all; from 0
/// to p; from p/2 to p; from `shortest` to three times the previous pause.
enum class Jitter { none, full, equal, decorrelated };

struct Pace {
  Wait wait = Wait::exponential;
  Duration shortest = 5ms;
  Duration longest = 1s;  ///< no pause is longer
  /// Each pause is half as long again: doubling would look too rarely at acts of a few hundred
  /// milliseconds.
  double factor = 1.5;
  Jitter jitter = Jitter::none;
  Duration unit{1};
  bool operator==(const Pace&) const = default;
};

/// Time counts only while a run is active, over all runs that a resource takes. 0: none.
struct Deadlines {
  Duration settle{0};   ///< how long it may stay pending before it is given up
  Duration attempt{0};  ///< how long one call may take before it is told to stop
  bool operator==(const Deadlines&) const = default;
};

/// How long an act with the same result over and over is called again before it is given up: both
/// limits must be reached.
struct Patience {
  int calls = 3;
  Duration time = 9s;
  bool with_errors = false;  ///< an `Error` of the driver is called again, too
  int most = 0;              ///< calls in all, whatever their results; 0: no limit. Not in records
  bool operator==(const Patience&) const = default;
};

/// When an act that was done is done again.
enum class Redo {
  as_needed,  ///< when something that it depends on has changed
  always,     ///< in every run
  if_lost,    ///< when its host was recreated or an act was interrupted, not for a new wish
  resolved,   ///< in this run, by the decision of a resolver
};

/// What a run may do about it.
enum class Mandate {
  act,     ///< it is made true
  report,  ///< it is compared with the wish; nothing is done or recorded
  none,    ///< nothing can act on it
  look,    ///< like `report`, for its users: a difference is a change, not a failure
};

/// The fate of a known thing that nobody wants any more.
enum class Leftover { keep, forget, remove };

struct Resource {
  Key key;
  Attributes attributes;    ///< normalised by its kind; may contain holes, each of which is a need
  std::vector<Need> needs;  ///< in addition to those of the holes
  Name driver;              ///< who acts
  Name pool;                ///< a named budget of acts in flight; empty: none
  Name origin;              ///< `file:line:column` of the declaration
  Redo redo = Redo::as_needed;
  Mandate mandate = Mandate::act;
  std::optional<Leftover> leftover;  ///< none: as the sets that wanted it say
  Pace pace;
  Deadlines deadlines;
  Patience patience;
  /// Acting never blocks and touches nothing but its outputs: it takes no slot and no thread, no
  /// event says that it has started, and it is recorded only if its result changed.
  bool is_instant = false;
  bool ends_run = false;  ///< if it fails, nothing more is started; not in records
};

/// A known resource should be started, stopped or removed by hand, whoever wants it. The wish of
/// its sets stays, and their next run finds it changed from outside.
struct Request {
  Key key;
  Verb verb = Verb::keep;
};

/// Wishes by set; a set is everything that one owner speaks for. An intent speaks only for the sets
/// that it lists. Resources under the empty name belong to no set: they are made once, by hand.
struct Intent {
  Name environment;
  std::map<Name, Leftover> sets;
  std::map<Name, std::vector<Resource>> resources;
  std::vector<Request> requests;
  std::map<Name, int> pools;  ///< depth of each named pool
};

std::string_view to_string(When when);
std::string_view to_string(Bond bond);
std::string_view to_string(Wait wait);
std::string_view to_string(Leftover leftover);

}  // namespace fettle
