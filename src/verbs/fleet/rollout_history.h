#pragma once
/// How a rollout went: what was done to each pod, and which images were pulled where, over time.
///
/// A rollout has no beginning and no end in the store: a controller changes a pod here and there
/// whenever it may. So one is all acts on pods and images between two pauses.

#include <optional>
#include <string>
#include <vector>

#include "workplace/workplace.h"

namespace fettle {

struct RolloutAct {
  Verb verb = Verb::keep;
  Time began;
  std::optional<Time> ended;  ///< none: it is under way
  std::string outcome;        ///< the type of its last event; `interrupted`: nobody ended it
  std::string why;            ///< why it was done
  std::string error;          ///< of one that failed
};
/// A pod on a node, or an image that is pulled there.
struct RolloutRow {
  Key key;
  bool was_there = false;    ///< before the first act
  std::optional<Time> gone;  ///< since then it is not there
  std::vector<RolloutAct> acts;
};
struct RolloutPast {
  Time from, to;
  bool is_under_way = false;
  std::vector<RolloutRow> pods, pulls;  ///< in the order of their first acts
  uint64_t next = 0;                    ///< an earlier one ends before this event; 0: there is none
};

/// The last rollout in these events, which are the oldest first.
RolloutPast rollout_of(const std::vector<Event>& events);
/// The last one of the environment, or the last one before an event.
Result<RolloutPast> last_rollout(const Workplace& place, const Name& environment, uint64_t before);

}  // namespace fettle
