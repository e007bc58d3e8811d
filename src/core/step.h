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

/// The reason why a step is blocked.
enum class Obstacle {
  none,         ///< it is not blocked
  need,         ///< something that it needs is missing, or may still use it
  undefined,    ///< an attribute is unknown
  unavailable,  ///< nothing here can act on it
  report_only,  ///< the world differs, which is only reported
  host,         ///< its host must be recreated, which the next pass does
  at_work,      ///< another act on it is under way
  unmet,        ///< the event that it waits for did not happen: not needed
  given_up,     ///< it failed in this run, and is not tried again in it
};

std::string_view to_string(Obstacle obstacle);

/// The fate of a resource, and why. It borrows from the intent and the records of the decision.
struct Step {
  Verb verb = Verb::keep;
  Key key;
  const Resource* wanted = nullptr;  ///< none for a leftover
  RecordPointer known;               ///< none if there is no record
  Obstacle obstacle = Obstacle::none;
  bool maybe = false;  ///< only if an output of a need that is due turns out to have changed
  std::vector<std::string> fields;  ///< attributes that differ
  Name why;                         ///< never empty
  Key because;                      ///< the need that caused it; empty kind: none
  /// Kept, although its host has started another life since it happened there: it is not repeated.
  bool is_outlived = false;
  /// No longer wanted, but not removed, because somebody else wants the same thing.
  bool is_shared = false;
  State seen{};  ///< for drift: the state that was found; else null
};

/// Steps in an order that their needs allow.
struct Plan {
  std::vector<Step> steps;
  std::vector<Key> leftovers;  ///< known things that are kept though no longer wanted
  /// All steps are kept or not needed: everything is as wanted.
  bool converged() const;
};

}  // namespace fettle
