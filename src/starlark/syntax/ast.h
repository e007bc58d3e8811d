#pragma once
/// The syntax tree of a file, in an arena. The parser notes which names the body of each function
/// binds, so that the resolver needs only one walk.

#include <span>

#include "starlark/syntax/lexer.h"

namespace fettle::starlark {

enum class NodeKind : uint8_t {
  identifier,
  integer,
  real,
  string,
  bytes,
  list,
  tuple,
  dict,
  comprehension,
  unary,
  binary,
  logical,
  conditional,
  call,
  attribute,
  index,
  slice,
  lambda,
  expression_statement,
  assign,
  augmented_assign,
  def_statement,
  return_statement,
  if_statement,
  for_statement,
  while_statement,
  break_statement,
  continue_statement,
  pass_statement,
  load_statement
};

struct Node {
  NodeKind kind;
  bool parenthesized = false;
  bool loaded = false;  ///< a name that a `load` binds
  uint32_t at;          ///< byte offset of what an error about it points at
};

/// The place of a name's value, after resolution.
enum class Scope : uint8_t { undefined, local, cell, free, global, predeclared, universal };

struct FunctionNode;

/// One variable.
struct Binding {
  Symbol* symbol;
  Scope scope;
  uint32_t index;          ///< register, free variable or global
  uint32_t first;          ///< offset of the first binding use
  FunctionNode* function;  ///< whose variable it is; null for globals
  Binding* outer;          ///< what the name meant outside; of a free variable, what it captures
  bool bound;              ///< a binding use was seen, in order of the text
  bool loaded;             ///< by a `load` statement
  bool captured;           ///< a nested function uses it
  uint32_t assigned;       ///< compiler: it surely has a value here
  const void* owner;       ///< the comprehension whose variable it is
  Value value;             ///< of a predeclared or universal name
};

struct Identifier : Node {
  Symbol* symbol;
  Binding* binding;
};
struct IntegerNode : Node {
  int64_t small;
  bool large;
  int radix;
  std::string_view digits;
};
struct RealNode : Node {
  double number;
};
struct TextNode : Node {  ///< string and bytes
  std::string_view text;
};
struct SequenceNode : Node {  ///< list and tuple
  std::span<Node*> items;
};
struct DictNode : Node {
  std::span<Node*> items;      ///< key, value, key, value …
  std::span<uint32_t> colons;  ///< offsets
};
struct Clause {
  bool is_for;
  uint32_t at;
  Node* target;  ///< of a `for`
  Node* value;   ///< what a `for` iterates, or the condition
  std::span<Symbol*> bound;
};
struct ComprehensionNode : Node {
  bool is_dict;
  Node* key;       ///< of a dict
  uint32_t colon;  ///< behind the key
  Node* body;
  std::span<Clause> clauses;
  std::span<Binding*> bindings;
};
struct UnaryNode : Node {
  Token op;
  Node* operand;
};
struct BinaryNode : Node {
  Token op;
  Node* left;
  Node* right;
};
struct LogicalNode : Node {  ///< `a and b and c`: two or more operands
  bool is_and;
  std::span<Node*> operands;
};
struct ConditionalNode : Node {
  Node* condition;
  Node* yes;
  Node* no;
};
enum class ArgumentKind : uint8_t { positional, named, rest, named_rest };
struct Argument {
  ArgumentKind kind;
  uint32_t at;
  Symbol* name;
  Node* value;
};
struct CallNode : Node {  ///< `at` is the parenthesis
  Node* function;
  std::span<Argument> arguments;
};
struct AttributeNode : Node {  ///< `at` is the dot
  Node* object;
  Symbol* name;
};
struct IndexNode : Node {  ///< `at` is the bracket
  Node* object;
  Node* key;
};
struct SliceNode : Node {
  Node* object;
  Node* low;  ///< each may be null
  Node* high;
  Node* step;
};

enum class ParameterKind : uint8_t { required, optional, rest, bare_star, named_rest };
struct ParameterNode {
  ParameterKind kind;
  uint32_t at;
  uint32_t name_at;  ///< of an optional one, where its `=` is
  Symbol* name;      ///< null for a bare star
  Node* fallback;    ///< of an optional one
};
/// The body of a function: of `def`, of `lambda`, or of the file itself.
struct FunctionNode {
  std::string_view name;
  uint32_t at;
  uint32_t begin;  ///< of its first word, `def` or `lambda`
  std::span<ParameterNode> parameters;
  std::span<Node*> body;         ///< statements; of a lambda none
  Node* result = nullptr;        ///< of a lambda
  std::span<Identifier*> bound;  ///< names that the body binds, in order, comprehensions apart
  // After resolution.
  FunctionNode* parent = nullptr;
  std::span<Binding*> bindings;  ///< of parameters and locals; parameters first
  std::span<Binding*> free;      ///< variables of enclosing functions that it uses
  bool has_comprehension = false;
};
struct LambdaNode : Node {
  FunctionNode function;
};

struct ExpressionStatement : Node {
  Node* value;
};
struct AssignNode : Node {
  Node* target;
  Node* value;
};
struct AugmentedAssignNode : Node {
  Token op;  ///< the plain operator
  Node* target;
  Node* value;
};
struct DefNode : Node {
  Identifier* name;
  FunctionNode function;
};
struct ReturnNode : Node {
  Node* value;  ///< may be null
};
struct Branch {
  Node* condition;  ///< null for `else`
  std::span<Node*> body;
  uint32_t at;
};
struct IfNode : Node {
  std::span<Branch> branches;
};
struct ForNode : Node {
  Node* target;
  Node* iterable;
  std::span<Node*> body;
};
struct WhileNode : Node {
  Node* condition;
  std::span<Node*> body;
};
struct LoadedName {
  Identifier* local;
  std::string_view name;
  uint32_t at;
};
struct LoadNode : Node {
  std::string_view module;
  uint32_t module_at;
  std::span<LoadedName> names;
};

template <typename T>
T* as(Node* node) {
  return static_cast<T*>(node);
}

}  // namespace fettle::starlark
