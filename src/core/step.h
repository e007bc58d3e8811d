#pragma once
/// DUE. One decision about one resource. Every step can say why.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"
#include "core/resource.h"
#include "core/verb.h"

namespace fettle {

/// What a blocked step is blocked by.
enum class Obstacle {
  none,         ///< it is not blocked
  need,         ///< something that it needs is not there, or may still use it
  undefined,    ///< an attribute is unknown
  unavailable,  ///< nobody here can act on it
  report_only,  ///< the world differs, and that is to be told and no more
  host,         ///< its host has to be made anew, which the next pass does
  at_work,      ///< somebody else acts on it just now
  unmet,        ///< what it waits for has not come about, so it is not needed
  given_up,     ///< it failed in this run, and is not tried again in it
};

std::string_view to_string(Obstacle obstacle);

/// What becomes of a resource, and why. Borrows from the intent and the records it was decided on.
struct Step {
  Verb verb = Verb::keep;
  Key key;
  const Resource* wanted = nullptr;  ///< none for a leftover
  RecordPointer known;               ///< none when there is no record
  Obstacle obstacle = Obstacle::none;
  bool maybe = false;  ///< only if an output of a need that is due turns out to have changed
  std::vector<std::string> fields;  ///< attributes that differ
  Name why;                         ///< never empty
  Key because;                      ///< the need that caused it; empty kind: none
  /// Kept, though its host has begun another life since it happened there: it is not repeated.
  bool is_outlived = false;
  /// No longer wanted, and not removed, since somebody else wants the same thing.
  bool is_shared = false;
  State seen{};  ///< of drift: the state that was found; else null
};

/// Steps in an order that the needs allow.
struct Plan {
  std::vector<Step> steps;
  std::vector<Key> leftovers;  ///< known things that nobody wants any more and that are kept
  /// No step but kept ones and those that are not needed: all is as it is wanted.
  bool converged() const;
};

}  // namespace fettle
