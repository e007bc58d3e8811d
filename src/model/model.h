#pragma once
/// What a compile built, for those who read it afterwards: exporters, checks, tests.
///
/// Every instance in the order of construction, each value with the place and the contributor that
/// set it (see `program/instance.h`). Nothing here evaluates anything; a value that was never set
/// is null (a pointer), an unknown is a datum of its own.

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
  /// By its full name, `std::ResourceSet`; null when no file defines it.
  const Entity* entity(std::string_view full_name) const;

  /// The value of an attribute or of a relation to one; null when there is none or no such name.
  const Datum* value(const Instance& instance, std::string_view attribute) const;
  /// The members of a relation in their order, whatever its multiplicity; empty for anything else.
  std::span<const Datum> members(const Instance& instance, uint32_t slot) const;
  std::span<const Datum> members(const Instance& instance, std::string_view relation) const;

  /// The instance that a contributor stands for; null for the top level.
  const Instance* contributor(Contributor by) const;
  /// Who constructed it first; null for the top level.
  const Instance* maker(const Instance& instance) const { return contributor(instance.maker); }
  /// The further constructors of instances that were there, in their order.
  const std::deque<Construction>& constructions() const;
  /// Equal values and members that somebody else gave once more.
  const std::deque<Repetition>& repetitions() const;
  std::span<const Reading> readings() const;
  std::span<const Allocation> allocations() const;

  /// `file:line:column`.
  std::string where(Place at) const;
};

}  // namespace fettle::model
