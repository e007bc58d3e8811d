#pragma once
/// What a resource carries: the attributes that are wanted, the outputs that its act left, and the
/// state that was seen in the world.
///
/// Each of the three is a dict whose members only its kind knows. As plain values they could be
/// taken for one another, and whoever read one did it by a name in quotes: a member that was
/// renamed, or that had another type than the reader thought, was found by nobody. So each is a
/// type of its own, and the struct of its kind (`kinds/members.h`) reads and writes it:
///
///     const Service service = read<Service>(resource.attributes);
///
/// Invariants:
/// * The core, the store and the plan keep them, compare them and look for holes in them; they never
///   look at a member.
/// * `tests/tidy_test.cc` lists the files that may still look a member up by its name; no other file
///   may.

#include <utility>

#include "value/value.h"

namespace fettle {

/// Attributes as they are wanted; there may be holes in them.
class Attributes : public Value {
 public:
  Attributes() = default;
  Attributes(Value value) : Value(std::move(value)) {}  // NOLINT
};

/// Whether the thing is to be away. This is the one member that means the same for all kinds that
/// have it: who shows or refers to something asks, whatever it is.
inline bool is_purged(const Attributes& attributes) { return attributes.bool_at("purged"); }

/// What an act left behind and others embed; null as long as there is nothing.
class Outputs : public Value {
 public:
  Outputs() = default;
  Outputs(Value value) : Value(std::move(value)) {}  // NOLINT
};

/// How something was found.
class State : public Value {
 public:
  State() = default;
  State(Value value) : Value(std::move(value)) {}  // NOLINT
};

}  // namespace fettle
