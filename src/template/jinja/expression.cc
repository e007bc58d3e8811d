/// Expressions.

#include "base/search.h"
#include "base/text.h"
#include "template/jinja/objects.h"
#include "template/jinja/renderer.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

constexpr int deepest = 400;

/// The message about an attribute or item that is not there.
std::string missing(const Value& value, const Value& key) {
  const std::string of = value.is_none() ? "'None'" : cat("'", type_name(value), " object'");
  if (!key.is_text())
    return cat(value.is_none() ? "None" : cat(type_name(value), " object"), " has no element ",
               quoted(key));
  return cat(of, " has no attribute ", python::quoted(key.text()));
}

Result<Value> sliced(const Value& value, const Items& bounds) {
  if (value.is_dict())
    return raise("TypeError", "unhashable type: 'slice'");
  if (!value.is_text() && !value.is_list())
    return raise("TypeError", cat("'", type_name(value), "' object is not subscriptable"));
  if (Status status = begin_work(value); !status)
    return status.error();
  const Items items = TRY(items_of(value));
  const int64_t size = static_cast<int64_t>(items.size());
  const auto whole = [](const Value& bound, int64_t otherwise) {
    return bound.is_whole() ? bound.integer() : otherwise;
  };
  for (const Value& bound : bounds)
    if (!bound.is_none() && !bound.is_whole())
      return raise("TypeError",
                   "slice indices must be integers or None or have an __index__ method");
  const int64_t step = whole(bounds[2], 1);
  if (step == 0)
    return raise("ValueError", "slice step cannot be zero");
  const auto clamp = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 ? std::max(at + size, int64_t{-1}) : at, low, high);
  };
  int64_t at = bounds[0].is_none()
                   ? (step > 0 ? 0 : size - 1)
                   : clamp(bounds[0].integer(), step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  const int64_t end = bounds[1].is_none() ? (step > 0 ? size : -1)
                                          : clamp(bounds[1].integer(), step > 0 ? 0 : -1,
                                                  step > 0 ? size : size - 1);
  Items made;
  for (; step > 0 ? at < end : at > end;) {
    made.push_back(items[static_cast<size_t>(at)]);
    if (step > 0 ? step >= end - at : step <= end - at)
      break;
    at += step;
  }
  if (value.is_list())
    return value.list().is_tuple ? Value::tuple(std::move(made)) : Value::list(std::move(made));
  std::string text;
  for (const Value& piece : made)
    text += piece.text();
  return Value(std::move(text));
}

Result<bool> contains(const Value& container, const Value& item) {
  if (container.is_text()) {
    if (!item.is_text())
      return raise("TypeError",
                   cat("'in <string>' requires string as left operand, not ", type_name(item)));
    return find_text(container.text(), item.text()) != std::string::npos;
  }
  if (container.is_dict()) {
    TRY(check_hashable(item));
    return container.dict_data().find(item) != nullptr;
  }
  if (container.is_number() || container.is_none())
    return raise("TypeError", cat("argument of type '", type_name(container), "' is not iterable"));
  for (const Value& one : TRY(items_of(container))) {
    if (one.is_strictly_undefined() || item.is_strictly_undefined())
      return undefined_error(item.is_strictly_undefined() ? item : one);
    if (is_equal(one, item))
      return true;
  }
  return false;
}

}  // namespace

Result<bool> holds(std::string_view op, const Value& a, const Value& b) {
  if (op == "in" || op == "not in") {
    const bool is_in = TRY(contains(b, a));
    return is_in == (op == "in");
  }
  if (a.is_strictly_undefined() || b.is_strictly_undefined())
    return undefined_error(a.is_strictly_undefined() ? a : b);
  if (op == "==" || op == "!=")
    return is_equal(a, b) == (op == "==");
  const bool is_swapped = op == ">" || op == "<=";
  const bool is_less_asked = TRY(is_swapped ? is_less(b, a, op) : is_less(a, b, op));
  return is_less_asked == (op == "<" || op == ">");
}

Result<Value> Renderer::eval(const Expr& expr, const ScopePtr& scope) {
  if (Status status = spend(cost::expression); !status)
    return status.error();
  if (++level_ > deepest) {
    --level_;
    return raise("RecursionError", "maximum recursion depth exceeded");
  }
  Result<Value> made = evaluate(expr, scope);
  --level_;
  // A refusal within the call ended it early, with a part of the result.
  if (made && engine_.budget().is_over())
    return budget_error(engine_.budget());
  if (made && made->is_object())
    if (Status status = made->object()->readable(); !status)
      return status.error();
  return made;
}

Result<Items> Renderer::operands(const Expr& expr, const ScopePtr& scope) {
  Items items;
  for (const ExprPtr& operand : expr.operands)
    items.push_back(operand == nullptr ? Value() : TRY(eval(*operand, scope)));
  return items;
}

Result<Value> Renderer::name(const Expr& expr, const ScopePtr& scope) {
  for (const Scope* at = scope.get(); at != nullptr; at = at->parent.get())
    if (const auto found = at->names.find(expr.name); found != at->names.end())
      return found->second;
  if (std::optional<Value> found = TRY(context_(expr.name)))
    return std::move(*found);
  if (const auto found = environment().globals.find(expr.name);
      found != environment().globals.end())
    return found->second;
  if (std::optional<Value> found = find_global(expr.name, environment().limits))
    return std::move(*found);
  if (expr.name == "self")
    return Value(ObjectPtr(std::make_shared<SelfReference>(*this, top_)));
  return Value::undefined(cat(python::quoted(expr.name), " is undefined"));
}

Result<Value> Renderer::evaluate(const Expr& expr, const ScopePtr& scope) {
  using Kind = Expr::Kind;
  switch (expr.kind) {
    case Kind::constant:
      return expr.constant;
    case Kind::name:
      return name(expr, scope);
    case Kind::list:
      return Value::list(TRY(operands(expr, scope)));
    case Kind::tuple:
      return Value::tuple(TRY(operands(expr, scope)));
    case Kind::dict: {
      const Items items = TRY(operands(expr, scope));
      Value made = Value::dict();
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        TRY(check_hashable(items[i]));
        made.dict_data().set(items[i], items[i + 1]);
      }
      return made;
    }
    case Kind::attribute:
      return attribute(TRY(eval(*expr.operands[0], scope)), expr.name);
    case Kind::item:
      return subscript(expr, scope);
    case Kind::slice:
      return raise("TypeError", "a slice stands alone");
    case Kind::call: {
      const Value callee = TRY(eval(*expr.operands[0], scope));
      Arguments given = TRY(arguments(expr.arguments, scope));
      return call(callee, given);
    }
    case Kind::filter: {
      Arguments given = TRY(arguments(expr.arguments, scope));
      given.positional.insert(given.positional.begin(), TRY(eval(*expr.operands[0], scope)));
      return filter_of(expr, given);
    }
    case Kind::test: {
      Arguments given = TRY(arguments(expr.arguments, scope));
      given.positional.insert(given.positional.begin(), TRY(eval(*expr.operands[0], scope)));
      return Value(TRY(test_of(expr, given)));
    }
    case Kind::conditional: {
      const Value condition = TRY(eval(*expr.operands[1], scope));
      if (condition.is_strictly_undefined())
        return undefined_error(condition);
      if (is_true(condition))
        return eval(*expr.operands[0], scope);
      if (expr.operands[2] != nullptr)
        return eval(*expr.operands[2], scope);
      return Value::undefined(cat("the inline if-expression on line ", expr.line,
                                  " evaluated to false and no else section was defined."),
                              true);
    }
    case Kind::binary: {
      const Items values = TRY(operands(expr, scope));
      return operate(expr.name, values[0], values[1]);
    }
    case Kind::unary: {
      const Value value = TRY(eval(*expr.operands[0], scope));
      if (value.is_undefined())
        return undefined_error(value);
      if (!value.is_number() && !digits_of(value))
        return raise("TypeError",
                     cat("bad operand type for unary ", expr.name, ": '", type_name(value), "'"));
      if (value.is_real())
        return Value(expr.name == "-" ? -value.real() : value.real());
      return operate(expr.name, Value(0), value);
    }
    case Kind::logic: {
      Value value = TRY(eval(*expr.operands[0], scope));
      if (value.is_strictly_undefined())
        return undefined_error(value);
      return is_true(value) == (expr.name == "or") ? std::move(value)
                                                   : eval(*expr.operands[1], scope);
    }
    case Kind::negation: {
      const Value value = TRY(eval(*expr.operands[0], scope));
      if (value.is_strictly_undefined())
        return undefined_error(value);
      return Value(!is_true(value));
    }
    case Kind::compare:
      return compare(expr, scope);
    case Kind::concat: {
      std::string made;
      for (const Value& value : TRY(operands(expr, scope)))
        if (Status status = add(made, TRY(shown(value))); !status)
          return status.error();
      return Value(std::move(made));
    }
  }
  return Value();
}

Result<Value> Renderer::compare(const Expr& expr, const ScopePtr& scope) {
  Value left = TRY(eval(*expr.operands[0], scope));
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Value right = TRY(eval(*expr.operands[i + 1], scope));
    if (!TRY(holds(expr.ops[i], left, right)))
      return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Result<Value> Renderer::subscript(const Expr& expr, const ScopePtr& scope) {
  const Value value = TRY(eval(*expr.operands[0], scope));
  if (expr.operands[1]->kind == Expr::Kind::slice) {
    if (value.is_undefined())
      return undefined_error(value);
    return sliced(value, TRY(operands(*expr.operands[1], scope)));
  }
  return item(value, TRY(eval(*expr.operands[1], scope)));
}

Result<Value> Renderer::attribute(const Value& value, const std::string& name) {
  if (value.is_undefined() && !name.starts_with("__"))
    return undefined_error(value);
  if (name.starts_with("__"))
    return raise("jinja2.exceptions.SecurityError",
                 cat("access to attribute ", python::quoted(name), " of ",
                     python::quoted(type_name(value)), " object is unsafe."));
  if (value.is_object()) {
    if (std::optional<Value> found = TRY(value.object()->attribute(name)))
      return std::move(*found);
  } else if (std::optional<Value> found = find_method(value, name)) {
    circles_.add(value);
    return std::move(*found);
  }
  if (value.is_dict())
    if (const Value* found = value.dict_data().find(Value(name)))
      return *found;
  if (value.is_list() && value.list().is_group && (name == "grouper" || name == "list"))
    return value.list().items[name == "list"];
  return Value::undefined(missing(value, Value(name)));
}

Result<Value> Renderer::item(const Value& value, const Value& key) {
  if (value.is_undefined())
    return undefined_error(value);
  if (key.is_undefined() && !value.is_dict() && !value.is_object())
    return Value::undefined(missing(value, key));
  if (key.is_strictly_undefined())
    return undefined_error(key);
  if (value.is_dict()) {
    if (const Value* found = value.dict_data().find(key))
      return *found;
  } else if ((value.is_list() || value.is_text()) && key.is_whole()) {
    const Items items = value.is_list() ? Items() : TRY(items_of(value));
    const Items& all = value.is_list() ? value.list().items : items;
    const int64_t size = static_cast<int64_t>(all.size());
    const int64_t index = key.integer() < 0 ? key.integer() + size : key.integer();
    if (index >= 0 && index < size)
      return all[static_cast<size_t>(index)];
  }
  if (value.is_object())
    if (std::optional<Value> found = TRY(value.object()->item(key)))
      return std::move(*found);
  if (key.is_text())
    return attribute(value, key.text());
  return Value::undefined(missing(value, key));
}

Result<Arguments> Renderer::arguments(const CallArguments& given, const ScopePtr& scope) {
  Arguments made;
  for (const ExprPtr& expr : given.positional)
    made.positional.push_back(TRY(eval(*expr, scope)));
  for (const NamedExpr& named : given.named)
    made.named.emplace_back(named.name, TRY(eval(*named.value, scope)));
  if (given.rest != nullptr)
    for (const Value& value : TRY(items_of(TRY(eval(*given.rest, scope)))))
      made.positional.push_back(value);
  if (given.named_rest != nullptr) {
    const Value rest = TRY(eval(*given.named_rest, scope));
    if (!rest.is_dict())
      return raise("TypeError", cat("argument after ** must be a mapping, not ", type_name(rest)));
    for (const auto& [key, value] : rest.dict_data().entries)
      made.named.emplace_back(text_of(key), value);
  }
  return made;
}

Result<Value> Renderer::call(const Value& callee, Arguments& arguments) {
  if (callee.is_undefined())
    return undefined_error(callee);
  if (!callee.is_object() || !callee.object()->is_callable())
    return raise("TypeError", cat("'", type_name(callee), "' object is not callable"));
  const ObjectPtr kept = callee.object();
  return kept->call(arguments);
}

Result<Value> Renderer::filter(const std::string& name, Arguments& arguments) {
  if (!arguments.positional.empty())
    if (Status status = begin_work(arguments.positional[0]); !status)
      return status.error();
  if (Builtin builtin = find_filter(name))
    return builtin(*this, arguments);
  if (environment().find_filter)
    if (const Function function = environment().find_filter(name)) {
      if (arguments.positional[0].is_undefined())
        return undefined_error(arguments.positional[0]);
      return function(arguments);
    }
  return raise("jinja2.exceptions.TemplateRuntimeError",
               cat("No filter named ", python::quoted(name), "."));
}

Result<bool> Renderer::test(const std::string& name, Arguments& arguments) {
  if (TestBuiltin builtin = find_test(name))
    return builtin(*this, arguments);
  if (environment().find_test)
    if (const Function function = environment().find_test(name))
      return is_true(TRY(function(arguments)));
  return raise("jinja2.exceptions.TemplateRuntimeError",
               cat("No test named ", python::quoted(name), "."));
}

Result<Value> Renderer::filter_of(const Expr& expr, Arguments& arguments) {
  if (!has_filter(environment(), expr.name))
    return raise("jinja2.exceptions.TemplateRuntimeError",
                 cat("No filter named ", python::quoted(expr.name), " found."));
  return filter(expr.name, arguments);
}

Result<bool> Renderer::test_of(const Expr& expr, Arguments& arguments) {
  if (!has_test(environment(), expr.name))
    return raise("jinja2.exceptions.TemplateRuntimeError",
                 cat("No test named ", python::quoted(expr.name), " found."));
  return test(expr.name, arguments);
}

}  // namespace fettle::jinja
