#pragma once
/// The syntax tree of a model. It lives in an arena; a node is told apart by its `kind`.
///
/// To add an expression: a kind here, a case in `parse_expression.cc`, one in `resolve/resolve.cc`
/// (names) and `resolve/needs.cc`, one in `evaluate/evaluator.cc`, and one in
/// `program/describe.cc`.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/values/datum.h"
#include "model/values/operator.h"
#include "model/values/symbols.h"

namespace fettle::model {

struct Entity;
struct Implementation;
struct Type;
struct Plugin;

/// A place in a source. Lines and columns count from 1; columns count code points. Every value of a
/// model has a place, so it is small: whatever is beyond the last line or column is reported as
/// being there.
struct Place {
  static constexpr uint64_t last_line = (1u << 25) - 1;
  static constexpr uint64_t last_column = (1u << 24) - 1;
  static constexpr uint64_t last_file = (1u << 14) - 1;

  uint64_t file : 14 = 0;
  uint64_t line : 25 = 0;
  uint64_t column : 24 = 0;
  uint64_t is_exact : 1 = 0;  ///< errors print it with its column
};
static_assert(sizeof(Place) == 8);

inline Place moved(Place at, size_t columns) {
  at.column = std::min<uint64_t>(at.column + columns, Place::last_column) & Place::last_column;
  return at;
}

/// `a::b::c`: the namespaces joined by `::` (empty if there are none), and the last name.
struct QualifiedName {
  std::string_view space;
  Symbol name = 0;
  Place at;
};

enum class ExprKind : uint8_t {
  constant,
  format,
  name,
  attribute,
  constructor,
  call,
  list,
  comprehension,
  dict,
  index_lookup,
  short_lookup,
  map_lookup,
  binary,
  negation,
  conditional,
  is_defined,
  regex,
};

struct Expr {
  ExprKind kind;
  Place at;
};

struct Constant : Expr {
  Datum value;
  bool interpolates = false;  ///< a text that was written with `{{ }}`
};

/// A text with holes: `"a {{ b.c }}"` and f-strings. If `value` is null, the part is a text.
struct FormatPart {
  std::string_view text;
  const Expr* value = nullptr;
  char conversion = 0;                  ///< `r`, `s` or `a` of an f-string
  const struct Format* spec = nullptr;  ///< of an f-string
};
struct Format : Expr {
  std::span<const FormatPart> parts;
  bool is_f_string = false;
  std::string_view source;
};

enum class NameKind : uint8_t {
  unresolved,
  missing,
  no_space,  ///< its namespace is not imported
  in_type,   ///< a variable, which the condition of a typedef can not see
  local,
  self_value,
  self_attribute,
  child_attribute,  ///< of `self`, when what extends the entity has it; else a global, or nothing
  global
};

struct Name;

/// A name without which an expression cannot begin, and the part that computes with it. Null: the
/// evaluator of the expression does.
struct Need {
  const Name* name = nullptr;
  const Expr* reader = nullptr;
};

/// `x`, `a::x`. Its place is found once, before evaluation.
struct Name : Expr {
  QualifiedName name;
  mutable NameKind found = NameKind::unresolved;
  mutable uint32_t depth = 0;  ///< frames to climb, or the namespace of a global
  mutable uint32_t slot = 0;
  mutable bool is_global_otherwise = false;  ///< of a `child_attribute`
};

struct Attribute;
struct AttributeRef : Expr {
  const Expr* object;
  Symbol name;
  mutable const Entity* cached_entity = nullptr;
  mutable uint32_t cached_slot = 0;
  mutable bool is_in_type = false;  ///< in the condition of a typedef, which can not have it
};

struct Argument {
  Symbol name = 0;
  const Expr* value = nullptr;
  bool is_unpacked = false;  ///< `**value`
  bool is_positional = false;
  Place at;
};

struct Constructor : Expr {
  QualifiedName type;
  std::span<const Argument> arguments;
  mutable Entity* entity = nullptr;
  mutable std::string_view space;  ///< the namespace it stands in
  mutable const Entity* cached_entity = nullptr;
  mutable std::span<const uint32_t> cached_slots;  ///< of the arguments
  mutable Need missing;  ///< a name that stands for nothing, in an argument that no index needs
};
struct Call : Expr {
  QualifiedName function;
  std::span<const Argument> arguments;
  mutable const Plugin* plugin = nullptr;
  /// The variables that the plugin may look up by name, if it looks up any.
  mutable std::span<const Name* const> visible;
  mutable const Type* cast = nullptr;
};
struct ListExpr : Expr {
  std::span<const Expr* const> items;
};

struct Scope;
/// A second `for` is a comprehension that is the value of the first; several guards become one
/// `and`.
struct Comprehension : Expr {
  const Expr* value;
  Symbol variable;
  const Expr* iterable;
  const Expr* guard;  ///< null: none
};
struct DictItem {
  const Text* key;
  const Expr* value;
  Place at;
};
struct DictExpr : Expr {
  std::span<const DictItem> items;
};
struct IndexLookup : Expr {
  QualifiedName type;
  std::span<const Argument> arguments;
  mutable Entity* entity = nullptr;
};
struct ShortLookup : Expr {
  const AttributeRef* relation;
  std::span<const Argument> arguments;
};
struct MapLookup : Expr {
  const Expr* object;
  const Expr* key;
};

struct Binary : Expr {
  Operator op;
  const Expr* left;
  const Expr* right;
};
struct Negation : Expr {
  const Expr* operand;
};
struct Conditional : Expr {
  const Expr* condition;
  const Expr* yes;
  const Expr* no;
};
struct IsDefined : Expr {
  const Expr* operand;
};
struct Regex : Expr {
  std::string_view pattern;
};

enum class StmtKind : uint8_t { expression, assign, assign_attribute, for_, if_ };

struct Stmt {
  StmtKind kind;
  Place at;
  /// The names without which it cannot begin.
  mutable std::span<const Name* const> needs{};
};

/// An assignment in a block, or in the blocks inside it, to an object that is known outside.
struct OuterAssignment {
  const struct AssignAttribute* assignment;
  uint32_t levels;  ///< frames from the assignment to the one around the block
};

/// Statements with the names that they assign; a frame has a cell for each.
struct Block {
  std::span<const Stmt* const> statements;
  mutable std::span<const Symbol> locals;
  /// Assignments whose cell is promised before this block is entered.
  mutable std::span<const OuterAssignment> foreseen;
  /// It holds only the `if` of an `elif`: it has no variables and no frame, so that a long chain is
  /// no deep nesting.
  bool is_elif = false;
};

struct ExprStmt : Stmt {
  const Expr* expression;
};
struct Assign : Stmt {
  QualifiedName name;
  const Expr* value;
  mutable uint32_t slot = 0;
  mutable uint32_t space = 0;  ///< of a name with a namespace
};
struct AssignAttribute : Stmt {
  const Expr* object;
  Symbol name;
  const Expr* value;
  bool is_add;
  mutable const Name* missing = nullptr;  ///< a name of the value that stands for nothing
};
struct For : Stmt {
  Symbol variable;
  const Expr* iterable;
  const Block* body;
  mutable const Name* missing = nullptr;  ///< in the iterable, a name that stands for nothing
};
struct If : Stmt {
  const Expr* condition;
  const Block* yes;
  const Block* no;
};

/// A type as written: `a::b[]?`.
struct TypeName {
  QualifiedName name;
  bool is_list = false;
  bool is_nullable = false;
};

struct AttributeDefinition {
  TypeName type;
  Symbol name = 0;
  const Expr* initial = nullptr;
  bool removes_default = false;  ///< `= undef`
  Place at;
};
struct EntityDefinition {
  Symbol name = 0;
  std::span<const QualifiedName> parents;
  std::span<const AttributeDefinition> attributes;
  Place at;
};
constexpr uint32_t unlimited = UINT32_MAX;
struct Multiplicity {
  uint32_t lower = 0;
  uint32_t upper = unlimited;
};
struct RelationDefinition {
  QualifiedName left;
  Symbol left_name = 0;
  Multiplicity left_count;
  Place left_at;
  std::span<const Expr* const> annotations;
  QualifiedName right;
  bool has_inverse = false;
  Symbol right_name = 0;
  Multiplicity right_count;
  Place right_at;
};
struct ImplementationDefinition {
  Symbol name = 0;
  QualifiedName entity;
  const Block* body = nullptr;
  Place at;
};
struct ImplementDefinition {
  QualifiedName entity;
  std::span<const QualifiedName> implementations;
  bool uses_parents = false;
  const Expr* condition = nullptr;
  Place at;
};
struct TypedefDefinition {
  Symbol name = 0;
  QualifiedName base;
  const Expr* condition = nullptr;
  Place at;
};
struct IndexDefinition {
  QualifiedName entity;
  std::span<const Symbol> attributes;
  std::span<const Place> places;
  Place at;
};
struct ImportDefinition {
  std::string_view module;  ///< `a::b`
  Symbol alias = 0;
  bool has_alias = false;
  Place at;
};

/// A file.
struct Unit {
  std::span<const EntityDefinition* const> entities;
  std::span<const RelationDefinition* const> relations;
  std::span<const ImplementationDefinition* const> implementations;
  std::span<const ImplementDefinition* const> implements;
  std::span<const TypedefDefinition* const> typedefs;
  std::span<const IndexDefinition* const> indexes;
  std::span<const ImportDefinition* const> imports;
  const Block* body = nullptr;
};

template <typename Node>
const Node& as(const Expr* node) {
  return *static_cast<const Node*>(node);
}
template <typename Node>
const Node& as(const Stmt* node) {
  return *static_cast<const Node*>(node);
}

}  // namespace fettle::model
