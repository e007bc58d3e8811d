#pragma once
/// The syntax tree of a template.
///
/// To add a statement: a kind here, a case in `parser.cc`, one in `render.cc`. To add an
/// expression: the same with `expression.cc`.

#include <memory>
#include <string>
#include <vector>

#include "template/jinja/value.h"

namespace fettle::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct NamedExpr {
  std::string name;
  ExprPtr value;
};

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<NamedExpr> named;
  ExprPtr rest;        ///< `*x`
  ExprPtr named_rest;  ///< `**x`
};

struct Expr {
  enum class Kind {
    constant,
    name,
    list,
    tuple,
    dict,       ///< keys and values in turn
    attribute,  ///< `a.name`
    item,       ///< `a[b]`
    slice,      ///< `a:b:c`, missing ones null
    call,
    filter,       ///< operands[0] | name(arguments)
    test,         ///< operands[0] is name(arguments)
    conditional,  ///< operands: yes, condition, no (may be null)
    binary,
    unary,
    logic,  ///< and, or
    negation,
    compare,  ///< operands with `ops` between
    concat,
  };
  Kind kind = Kind::constant;
  int line = 1;
  std::string name;  ///< of a name, attribute, filter, test; the operator
  Value constant;
  std::vector<ExprPtr> operands;
  std::vector<std::string> ops;
  CallArguments arguments;
};

struct Stmt;
using Body = std::vector<std::unique_ptr<Stmt>>;

/// A parameter of a macro.
struct Parameter {
  std::string name;
  ExprPtr initial;  ///< null: none
};

struct MacroData {
  std::string name;  ///< empty: the body of a call block
  std::vector<Parameter> parameters;
  Body body;
  int line = 1;
  bool uses_caller = false;
  bool uses_rest = false;        ///< `varargs`
  bool uses_named_rest = false;  ///< `kwargs`
};

struct Stmt {
  enum class Kind {
    data,
    output,
    for_,
    if_,
    set,
    set_block,
    with,
    macro,
    call_block,
    filter_block,
    block,
    extends,
    include,
    import,
    from_import,
    do_,
    break_,
    continue_,
    scope,  ///< autoescape: only a scope here
  };
  Kind kind = Kind::data;
  int line = 1;
  int column = 1;
  std::string text;              ///< data; a block's or import's name
  std::vector<ExprPtr> exprs;    ///< by kind: outputs; condition; iterable; value
  ExprPtr target;                ///< of a loop or a set
  ExprPtr filter;                ///< of a loop: `if`; of a filter block or set block: the chain
  std::vector<NamedExpr> names;  ///< with: name and value; from: name and (in `aliases`) alias
  std::vector<std::string> aliases;
  Body body;
  Body otherwise;
  std::shared_ptr<MacroData> macro;
  bool is_recursive = false;
  bool is_scoped = false;
  bool is_required = false;
  bool ignores_missing = false;
  bool has_context = true;
};

/// A parsed template.
struct Tree {
  std::string name;
  Body body;
};

}  // namespace fettle::jinja
