#pragma once
/// The data of a resource: its wanted attributes, the outputs of its act, and the state seen in the
/// world.
///
/// Each of the three is a dict whose members only its kind knows. As plain values they could be
/// mistaken for one another, and readers would use names in quotes: nothing would detect a member
/// that was renamed, or that has another type than the reader expects. So each is its own type, and
/// the struct of its kind (`kinds/members.h`) reads and writes it:
///
///     const Service service = read<Service>(resource.attributes);
///
/// Invariants:
/// * The core, the store and the plan keep them, compare them and look for holes in them; they
///   never look at a member.
/// * `tests/tidy_test.cc` lists the files that may still look a member up by its name; no other file
///   may.

#include <utility>

#include "value/value.h"

namespace fettle {

/// Attributes as they are wanted; they may contain holes.
class Attributes : public Value {
 public:
  Attributes() = default;
  Attributes(Value value) : Value(std::move(value)) {}  // NOLINT
};

/// Whether the thing should be absent. This is the one member with the same meaning in all kinds
/// that have it, so code that shows or refers to a thing of any kind may ask.
inline bool is_purged(const Attributes& attributes) { return attributes.bool_at("purged"); }

/// The results of an act, which others embed; null as long as there are none.
class Outputs : public Value {
 public:
  Outputs() = default;
  Outputs(Value value) : Value(std::move(value)) {}  // NOLINT
};

/// The state in which something was found.
class State : public Value {
 public:
  State() = default;
  State(Value value) : Value(std::move(value)) {}  // NOLINT
};

}  // namespace fettle
