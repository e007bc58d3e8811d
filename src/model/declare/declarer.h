#pragma once
/// Declares the definitions of a program, in the order in which they depend on each other. The
/// first wrong one ends it. `declare.cc` has names, types and entities; `declare_links.cc` has what
/// links them.

#include "model/program/program.h"

namespace fettle::model {

/// Fills in the program from the trees of its namespaces. Returns all errors, unordered.
std::vector<Failure> declare(Program& program);

class Declarer {
 public:
  explicit Declarer(Program& program) : program_(program) {}
  std::vector<Failure> run();

 private:
  bool fail(Place at, std::string message, Importance importance, std::string reported = "");
  /// `what (original at (…)) (duplicate at (…))`.
  bool duplicate(const std::string& what, Place original, Place again);
  bool type_not_found(const Space& space, const QualifiedName& name, std::string reporter);
  Entity* entity_of(Space& space, const QualifiedName& name, std::string reporter);

  bool names(Space& space);
  bool entity_names(Space& space);
  bool implementation_names(Space& space);
  bool typedef_names(Space& space);
  bool imports(Space& space);
  bool find_type(Space& space, const QualifiedName& name, Type& type, std::string reporter);
  bool typedefs(Space& space);
  bool typedef_chains(Space& space);
  bool parents(Space& space);
  bool lineage(Entity& entity, std::vector<Entity*>& below);
  bool attributes(Entity& entity);
  bool compatible(Entity& entity);
  bool check_defaults(const Entity& entity);
  bool check_default(const AttributeDefinition& definition, const Attribute& attribute);
  void slots(Entity& entity);

  // declare_links.cc
  bool relation_end(Entity& entity, const Attribute& made, Attribute*& end);
  bool relation(Space& space, const RelationDefinition& definition);
  bool implementation(Space& space, const ImplementationDefinition& definition);
  bool index(Space& space, const IndexDefinition& definition);
  bool implement(Space& space, const ImplementDefinition& definition);
  bool select_implementation(Space& space, Entity& entity, const QualifiedName& name,
                             const ImplementDefinition& definition, Implement& made);
  void select(Entity& entity);
  bool dataclass(Entity& entity);

  Program& program_;
  std::vector<Failure> failures_;
};

}  // namespace fettle::model
