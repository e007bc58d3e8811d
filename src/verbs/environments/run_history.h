#pragma once
/// What happened in an environment, to be looked at afterwards: the last events, and the runs that
/// they belong to.
///
/// Events are only appended, and an environment may have a million. Whoever reads all of them to
/// show the last hundred waits for seconds, so windows are read from the end, each twice as large
/// as the one before.

#include <optional>
#include <string>
#include <vector>

#include "workplace/workplace.h"

namespace fettle {

struct EventSearch {
  Name environment{};      ///< empty: all
  std::string text{};      ///< what a key, a verb, a type or a text must have; empty: any
  bool only_ends = false;  ///< only the first and the last events of runs
  uint64_t before = 0;     ///< only events before this number; 0: up to the newest
  size_t most = 200;       ///< events that are found
  size_t reads = 50'000;   ///< events that are looked at
};
struct EventPage {
  std::vector<Event> events;  ///< the oldest first
  /// Where an older page ends (`EventSearch::before`); 0: there is none.
  uint64_t next = 0;
  uint64_t newest = 0;  ///< the number of the newest event that was looked for, 0: none
};
/// The last events that fit.
Result<EventPage> search_events(const Workplace& place, const EventSearch& search);

/// An act within a run.
struct RunAct {
  Key key;
  Verb verb = Verb::keep;
  Time began, ended;
  std::string outcome;  ///< the type of its last event; `started`: it has not ended
  std::string text;
};
/// Everything between a `run_started` and the next one.
struct RunPast {
  uint64_t sequence = 0;  ///< of its first event
  Time began;
  std::optional<Time> ended;
  std::string what;     ///< what was run
  std::string outcome;  ///< in words; empty: it has not ended
  Value counts;         ///< by outcome, when it has ended
  std::vector<RunAct> acts;
};
/// The runs of these events, the oldest first. What belongs to a run that began before the first
/// event is left out.
std::vector<RunPast> runs_of(const std::vector<Event>& events);

}  // namespace fettle
