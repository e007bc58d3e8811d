#pragma once
/// How the instances of an entity become resources: which declaration counts, and how each field is
/// read. Made once for each entity.

#include <string>
#include <unordered_map>
#include <vector>

#include "model/export/declaration.h"

namespace fettle::model {

constexpr size_t references_at = 0;  // among the fields of every type
constexpr size_t mutators_at = 1;

/// How a field of a type is read.
struct FieldPlan {
  fettle::Name name;
  uint32_t slot = no_slot;
  const GetFunction* get = nullptr;
  Value constant;
  bool is_constant = false;
};

/// How instances of an entity become resources.
struct TypePlan {
  const Declaration* declaration = nullptr;
  std::vector<FieldPlan> fields;
  uint32_t id_slot = no_slot;
  const GetFunction* id_get = nullptr;
  uint32_t agent_slot = no_slot;
  uint32_t managed_slot = no_slot;
  uint32_t needs_slot = no_slot;
  std::vector<uint32_t> by_name;  ///< fields as JSON has them
  std::vector<std::string> keys;  ///< of fields, `"name":`
};

class TypePlans {
 public:
  TypePlans(const Model& model, const Declarations& declarations)
      : model_(model), declarations_(declarations) {}

  /// The plan has no declaration if the entity is no resource. Error: a field that the declaration
  /// names is not there.
  Result<const TypePlan*> of(const Entity& entity);
  /// For an entity that was asked for before.
  const TypePlan& known(const Entity& entity) const { return plans_.at(&entity); }

 private:
  const Declaration* declaration_of(const Entity& entity) const;
  Result<TypePlan> make(const Entity& entity) const;
  Status add_fields(const Entity& entity, TypePlan& plan) const;
  const Declaration* reader_of(const Entity& entity, const std::string& field) const;
  uint32_t slot_of(const Entity& entity, std::string_view name) const;
  bool is_a(const Entity& entity, std::string_view name) const;

  const Model& model_;
  const Declarations& declarations_;
  std::unordered_map<const Entity*, TypePlan> plans_;
};

}  // namespace fettle::model
