#include "template/jinja/check.h"

#include "base/text.h"
#include "template/jinja/renderer.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

/// The place of a statement or an expression.
struct Region {
  bool is_deferred = false;  ///< unknown names are errors when they are reached
  bool is_top = false;       ///< outputs after `extends` do not count
};

class NameCheck {
 public:
  NameCheck(const Tree& tree, const Environment& environment)
      : tree_(tree), environment_(environment) {}

  Status run() {
    for (const auto& node : tree_.body) {
      if (Status status = statement(*node, {false, true}); !status)
        return status;
      extends_ |= node->kind == Stmt::Kind::extends;
    }
    return blocks();
  }

 private:
  /// The blocks that were met since, each on its own, with those inside of it.
  Status blocks() {
    for (const Stmt* block : std::exchange(blocks_, {})) {
      Status status = body(block->body, {});
      if (status)
        status = blocks();
      if (!status)
        return status;
    }
    return {};
  }

  Status body(const Body& nodes, Region region) {
    for (const auto& node : nodes)
      if (Status status = statement(*node, region); !status)
        return status;
    return {};
  }

  Status statement(const Stmt& node, Region region) {
    using Kind = Stmt::Kind;
    switch (node.kind) {
      case Kind::output:
        return region.is_top && extends_ ? Status() : all(node.exprs, region);
      case Kind::if_:
        region.is_deferred = true;
        return both(all(node.exprs, region), [&] {
          return both(body(node.body, region), [&] { return body(node.otherwise, region); });
        });
      case Kind::block:
        blocks_.push_back(&node);
        return {};
      case Kind::macro:
        return macro(*node.macro);
      case Kind::call_block:
        return both(macro(*node.macro), [&] { return all(node.exprs, region); });
      case Kind::for_:
        return both(optional(node.filter, {}),
                    [&] { return both(all(node.exprs, region), [&] { return inner(node); }); });
      case Kind::set_block:
      case Kind::filter_block:
        return both(inner(node), [&] { return optional(node.filter, {}); });
      case Kind::scope:
        return both(all(node.exprs, {}), [&] { return inner(node); });
      default:
        return both(both(all(node.exprs, region), [&] { return named(node.names, region); }),
                    [&] { return inner(node); });
    }
  }

  /// The bodies of a statement that opens a scope.
  Status inner(const Stmt& node) {
    return both(body(node.body, {}), [&] { return body(node.otherwise, {}); });
  }

  Status macro(const MacroData& macro) {
    for (const Parameter& parameter : macro.parameters)
      if (Status status = optional(parameter.initial, {}); !status)
        return status;
    return body(macro.body, {});
  }

  template <typename Next>
  static Status both(Status status, Next next) {
    return status ? next() : status;
  }

  Status all(const std::vector<ExprPtr>& exprs, Region region) {
    for (const ExprPtr& expr : exprs)
      if (Status status = optional(expr, region); !status)
        return status;
    return {};
  }

  Status named(const std::vector<NamedExpr>& exprs, Region region) {
    for (const NamedExpr& expr : exprs)
      if (Status status = optional(expr.value, region); !status)
        return status;
    return {};
  }

  Status optional(const ExprPtr& expr, Region region) {
    return expr == nullptr ? Status() : expression(*expr, region);
  }

  Status expression(const Expr& expr, Region region) {
    using Kind = Expr::Kind;
    region.is_deferred |= expr.kind == Kind::conditional;
    if (expr.kind == Kind::filter && !region.is_deferred && !has_filter(environment_, expr.name))
      return unknown("filter", expr);
    if (expr.kind == Kind::test && !region.is_deferred && !has_test(environment_, expr.name))
      return unknown("test", expr);
    if (is_decided(expr))
      return expression(*expr.operands[0], region);
    if (Status status = all(expr.operands, region); !status)
      return status;
    const CallArguments& given = expr.arguments;
    if (Status status = all(given.positional, region); !status)
      return status;
    if (Status status = named(given.named, region); !status)
      return status;
    return both(optional(given.rest, region), [&] { return optional(given.named_rest, region); });
  }

  /// `false and x` and `true or x`, which are folded before `x` is looked at.
  static bool is_decided(const Expr& expr) {
    return expr.kind == Expr::Kind::logic && expr.operands[0]->kind == Expr::Kind::constant &&
           is_true(expr.operands[0]->constant) == (expr.name == "or");
  }

  Error unknown(std::string_view what, const Expr& expr) const {
    Error error = raise("jinja2.exceptions.TemplateAssertionError",
                        cat("No ", what, " named ", python::quoted(expr.name), "."));
    error.where.file = tree_.name;
    error.where.line = expr.line;
    return error;
  }

  const Tree& tree_;
  const Environment& environment_;
  std::vector<const Stmt*> blocks_;
  bool extends_ = false;
};

}  // namespace

Status check_names(const Tree& tree, const Environment& environment) {
  return NameCheck(tree, environment).run();
}

}  // namespace fettle::jinja
