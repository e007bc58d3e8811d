#pragma once
/// WANTED. One thing that somebody wants, what it needs, and all that a front end produces: an
/// `Intent`. An action (run this command, wait for that port) is a resource, too; what is seen of
/// it is its own record.

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
/// all; what a failure kept from running counts as failed. `stirred` is a change, also by what
/// failed in the end.
enum class When { succeeded, changed, failed, finished, stirred };

/// What becomes of me when a need is not met: what was wanted cannot be; or, when what I wait for
/// has not come about, I am not needed in this run.
enum class Unmet { fail, skip };

/// How a need binds.
enum class Bond {
  order,    ///< after it, nothing else
  refresh,  ///< act again when it changed
  inside,   ///< I happen within it and die with its incarnation
  past,     ///< I use it as it was before this run does anything about it
};

struct Need {
  std::vector<Key> keys;
  bool any = false;  ///< one of `keys` is enough, else all
  When when = When::succeeded;
  Unmet unmet = Unmet::fail;
  Bond bond = Bond::order;
};

/// How long to pause before looking again at what is pending: `shortest` each time; anything from
/// `shortest` to `longest`, both included, in steps of `unit`; or `shortest * factor^n`.
enum class Wait { fixed, random, exponential };

/// What becomes of a pause p, so that many do not come back at one moment: it stays; any of 0 to p;
/// any of p/2 to p; any of `shortest` to three times the pause before.
enum class Jitter { none, full, equal, decorrelated };

struct Pace {
  Wait wait = Wait::exponential;
  Duration shortest = 5ms;
  Duration longest = 1s;  ///< no pause is longer
  /// Half as long again each time: twice would look too rarely at what takes a few hundred
  /// milliseconds.
  double factor = 1.5;
  Jitter jitter = Jitter::none;
  Duration unit{1};
  bool operator==(const Pace&) const = default;
};

/// Measured while somebody runs, over all runs that a resource takes. 0: none.
struct Deadlines {
  Duration settle{0};   ///< how long it may stay pending before it is given up
  Duration attempt{0};  ///< how long one call may take before it is told to stop
  bool operator==(const Deadlines&) const = default;
};

/// How long what comes to the same over and over is called again before it is given up: both have
/// to be reached.
struct Patience {
  int calls = 3;
  Duration time = 9s;
  bool with_errors = false;  ///< an `Error` of the driver is called again, too
  int most = 0;  ///< calls in all, whatever they come to; 0: no limit. Records do not say it
  bool operator==(const Patience&) const = default;
};

/// When what was done is done again.
enum class Redo {
  as_needed,  ///< when something that it depends on is another one
  always,     ///< in every run
  if_lost,    ///< when its host is another one or an act was interrupted; another wish is no reason
  resolved,   ///< in this run: a resolver has decided so
};

/// What may be done about it.
enum class Mandate {
  act,     ///< it is made true
  report,  ///< it is compared with what is wanted, and nothing is done nor recorded
  none,    ///< nobody who could act is there
  look,    ///< for those that need it: a difference is a change and no failure; nothing is recorded
};

/// What becomes of a known thing that nobody wants any more.
enum class Leftover { keep, forget, remove };

struct Resource {
  Key key;
  Attributes attributes;    ///< normalised by its kind; may hold holes, and each hole is a need
  std::vector<Need> needs;  ///< beside those of the holes
  Name driver;              ///< who acts
  Name pool;                ///< a named budget of acts in flight; empty: none
  Name origin;              ///< `file:line:column` of the declaration
  Redo redo = Redo::as_needed;
  Mandate mandate = Mandate::act;
  std::optional<Leftover> leftover;  ///< none: as the sets say that wanted it
  Pace pace;
  Deadlines deadlines;
  Patience patience;
  /// Acting blocks nowhere and touches nothing but what it puts out: it takes no slot and no
  /// thread, nothing says that it has begun, and it is recorded only when it came to something
  /// else.
  bool is_instant = false;
  bool ends_run = false;  ///< when it fails, nothing more is started; records do not say it
};

/// Something that is known is to be started, stopped or removed by hand, whoever wants it. The wish
/// of its sets stays, and their next run finds it changed from outside.
struct Request {
  Key key;
  Verb verb = Verb::keep;
};

/// What somebody wants, by set: all that one owner speaks for. It speaks for the sets it lists and
/// for no other. Resources under the empty name belong to no set: they are made so once, by hand.
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
