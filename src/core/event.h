#pragma once
/// DONE. One line of the append-only log that feeds `events`, `why` and later a server. It holds no
/// secrets: values are masked before they get here.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/step.h"

namespace fettle {

enum class EventType {
  run_started,   ///< detail: the description that was run, and its arguments
  planned,       ///< one for each step that is not kept: verb and why
  started,       ///< an act
  pending,       ///< text: the reason for waiting
  done,          ///< detail: changed
  kept,          ///< a maybe step that turned out not to be needed
  failed,        ///< text: the error
  blocked,       ///< text: why
  removed,       ///< the record is gone
  run_finished,  ///< detail: counts
  skipped,       ///< text: why the act was left for another run
  unlocked,      ///< somebody took the right to act away; text: from whom
  failed_over,   ///< the store lacks its last records; with a key: what was found by its marks
};

std::string_view to_string(EventType type);

struct Event {
  uint64_t sequence = 0;  ///< given by the store
  Time time;
  EventType type = EventType::started;
  Name environment;
  Key key;  ///< empty kind: the whole run
  Verb verb = Verb::keep;
  Key because;  ///< the cause; empty kind: nothing that has a key
  std::string text;
  Value detail;
};

}  // namespace fettle
