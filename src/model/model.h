#pragma once
/// The result of a compile, for those who read it afterwards: exporters, checks, tests.
///
/// It has every instance in the order of construction, and each value with the place and the
/// contributor that set it (see `program/instance.h`). Nothing here evaluates anything. A value
/// that was never set is a null pointer; an unknown is a datum of its own.

#include <memory>
#include <span>

#include "model/program/instance.h"

namespace fettle::model {

class Machine;

class Model {
 public:
  Model();
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Program program;
  std::unique_ptr<Machine> machine;

  std::span<Instance* const> instances() const;
  /// All instances of the entity and its subtypes, in the order of construction.
  std::vector<const Instance*> instances_of(const Entity& entity) const;
  /// The entity of a full name, `std::ResourceSet`. Null: no file defines it.
  const Entity* entity(std::string_view full_name) const;

  /// The value of an attribute or of a relation to one. Null: there is none, or no such name.
  const Datum* value(const Instance& instance, std::string_view attribute) const;
  /// The members of a relation in their order, whatever its multiplicity. Empty: it is something
  /// else.
  std::span<const Datum> members(const Instance& instance, uint32_t slot) const;
  std::span<const Datum> members(const Instance& instance, std::string_view relation) const;

  /// The instance for which a contributor stands. Null: the top level.
  const Instance* contributor(Contributor by) const;
  /// The instance that constructed it first. Null: the top level.
  const Instance* maker(const Instance& instance) const { return contributor(instance.maker); }
  /// Further constructors of instances that existed already, in their order.
  const std::deque<Construction>& constructions() const;
  /// Equal values and members that somebody else gave again.
  const std::deque<Repetition>& repetitions() const;
  std::span<const ReadMark> readings() const;
  std::span<const Allocation> allocations() const;

  /// `file:line:column`.
  std::string where(Place at) const;
};

}  // namespace fettle::model
