#pragma once
/// DUE. One decision about one resource. Every step can say why.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"
#include "core/resource.h"

namespace fettle {

enum class Verb {
  keep,
  create,
  update,
  replace,
  start,
  stop,
  remove,
  forget,
  run,
  ensure,
  blocked
};

std::string_view to_string(Verb verb);

/// Whether a verb asks a driver to act.
constexpr bool acts(Verb verb) {
  return verb != Verb::keep && verb != Verb::forget && verb != Verb::blocked;
}

/// What becomes of a resource, and why. Borrows from the intent and the records it was decided on.
struct Step {
  Verb verb = Verb::keep;
  Key key;
  const Resource* wanted = nullptr;  ///< none for a leftover
  RecordPointer known;               ///< none when there is no record
  bool replan = false;  ///< blocked in this pass only: the next one makes its host anew
  bool maybe = false;   ///< only if an output of a need that is due turns out to have changed
  std::vector<std::string> fields;  ///< attributes that differ
  Name why;                         ///< never empty
  Key because;                      ///< the need that caused it; empty kind: none
};

/// Steps in an order that the needs allow.
struct Plan {
  std::vector<Step> steps;
  size_t leftovers = 0;  ///< known things that nobody wants any more and that are kept
  /// No step but kept and blocked ones: nothing is to be done.
  bool converged() const;
};

}  // namespace fettle
