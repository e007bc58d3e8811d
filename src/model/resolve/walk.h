#pragma once
/// Walks over one root of a program: the body of a file or an implementation, or a condition. It
/// writes its results into the tree, and stops at the first failure.

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/program/program.h"
#include "model/resolve/needs.h"

namespace fettle::model {

/// A block, with the variables that it assigns.
struct Level {
  const Level* parent = nullptr;
  Variables variables;
};

/// Stands for an attribute that becomes known only when the statement runs.
extern const Attribute some_attribute;

class Walk {
 public:
  /// The root of a walk that is neither a file's body nor an implementation's.
  struct Standing {
    bool is_in_type = false;  ///< the condition of a typedef: `self` is its only name
    std::string reporter;     ///< a definition that tells of failures instead of a statement
  };
  /// `entity`: the type of `self`; null outside of implementations.
  Walk(Program& program, Space& space, const Entity* entity, std::vector<Failure>& failures,
       const std::function<void(const Error&)>& warn, Standing standing)
      : program_(program),
        space_(space),
        entity_(entity),
        failures_(failures),
        warn_(warn),
        standing_(std::move(standing)),
        self_(program.symbols.intern("self")) {}
  Walk(Program& program, Space& space, const Entity* entity, std::vector<Failure>& failures,
       const std::function<void(const Error&)>& warn)
      : Walk(program, space, entity, failures, warn, Standing()) {}

  /// The variables that a block assigns. Those of a root block must be known before any name is
  /// resolved.
  Variables variables(const Block& block, const For* loop);
  void block(const Block& block, const Level* parent, const For* loop);
  /// `to`: the attribute that gets the value, for short names and for keys that it implies;
  /// `some_attribute` if that becomes known only later.
  void expression(const Expr* expr, const Level* level, const Attribute* to = nullptr);
  /// Annotations are read in any case, so their names must be there.
  void annotation(const RelationDefinition& definition, const Expr* annotation);

 private:
  // names.cc
  /// The variable that one of this block hides; null when there is none.
  const Variable* around(const Level& level, Symbol name) const;
  void warn_of_shadows(const Level& level, const Block& block) const;
  /// All names that are visible at a call.
  void visible(const Call& node, const Level* level);
  void comprehension(const Comprehension& node, const Level* level, const Attribute* to);
  void name(const Name& node, const Level* level);
  void global(const Name& node, const Space& from);
  /// Whether an entity that extends this one has an attribute of that name.
  bool is_of_child(Symbol name);
  /// An assignment to a variable of a namespace, which only that namespace can declare.
  void foreign(const Assign& node);

  // statements.cc
  void statement(const Stmt* statement, const Level* level);
  void names_of(const Stmt* statement, const Level* level);
  /// An `if` with all its `elif`.
  void chain(const If& first, const Level* level);
  void keep_needs(const Stmt& statement, const std::vector<Need>& needs);
  void keep_foreseen(const Block& block);
  /// The assignments whose object is known outside of the block. Inner blocks were done before:
  /// their assignments count if the object is known outside of this one as well.
  static void foresee(const Block& block, std::vector<OuterAssignment>& found);

  // constructors.cc
  void constructor(const Constructor& node, const Level* level, const Attribute* to);
  /// A short name may stand for a subtype of the relation's type.
  bool guess(const Constructor& node, const Entity& hint);
  /// Finds a constructor of a wrong type as an argument before anything runs.
  void assignable(const Expr* value, const Attribute& attribute);
  /// The keys that nobody can give. `**` may hold some, the other side of a relation implies one,
  /// and the attribute may become known only when the constructor runs.
  static std::vector<uint32_t> missing_slots(const Constructor& node, const Attribute* to);
  /// Refuses an index that names an attribute twice, unknown names, and keys that nobody gives.
  void complete(const Constructor& node, const Attribute* to);

  // resolve.cc
  void arguments(std::span<const Argument> arguments, const Level* level);
  void call(const Call& node, const Level* level);
  void fail(Place at, std::string message, std::string reported, Importance importance);
  /// Fails in the statement that is being resolved. Outside of one, the error only has the place.
  void fail_in_statement(Place at, const std::string& message, Importance importance);
  void not_found(const QualifiedName& name);

  Program& program_;
  Space& space_;
  const Entity* entity_;
  std::optional<std::unordered_set<Symbol>> of_children_;  ///< names; none: not looked for yet
  std::vector<Failure>& failures_;
  const std::function<void(const Error&)>& warn_;
  const Standing standing_;
  const Symbol self_;
  const Stmt* statement_ = nullptr;  ///< that is resolved now
};

}  // namespace fettle::model
