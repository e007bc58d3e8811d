/// Statements.

#include "base/text.h"
#include "template/jinja/check.h"
#include "template/jinja/jinja.h"
#include "template/jinja/objects.h"
#include "template/jinja/parser.h"
#include "template/jinja/renderer.h"

namespace fettle::jinja {
namespace {

constexpr int deepest_block = 400;
constexpr int most_parents = 100;
constexpr size_t most_origins = size_t{1} << 22;

}  // namespace

void Trace::add(const std::string& out, size_t before, const std::string* file, const Stmt& node) {
  if (&out != &traced_.text || out.size() == before || traced_.origins.size() >= most_origins)
    return;
  if (file != nullptr && file != file_) {
    file_ = file;
    index_ = static_cast<uint32_t>(std::find(traced_.files.begin(), traced_.files.end(), *file) -
                                   traced_.files.begin());
    if (index_ == traced_.files.size())
      traced_.files.push_back(*file);
  }
  traced_.origins.push_back(
      {before, index_, node.line, node.column, node.kind == Stmt::Kind::data});
}

Status Renderer::spend(uint64_t steps) {
  if (!engine_.budget().spend(steps))
    return budget_error(engine_.budget());
  return {};
}

Result<std::string> Renderer::shown(const Value& value) const {
  if (value.is_strictly_undefined())
    return undefined_error(value);
  std::string text = text_of(value);
  if (engine_.budget().is_over())
    return budget_error(engine_.budget());
  return text;
}

Status Renderer::body(const Body& body, const ScopePtr& scope, std::string& out) {
  for (const auto& node : body)
    if (Status status = statement(*node, scope, out); !status || leaving_ != LoopExit::nothing)
      return status;
  return {};
}

Status Renderer::statement(const Stmt& node, const ScopePtr& scope, std::string& out) {
  if (Status status = spend(cost::statement); !status)
    return status;
  Status status = ++level_ > deepest_block
                      ? Status(raise("RecursionError", "maximum recursion depth exceeded"))
                      : execute(node, scope, out);
  --level_;
  if (status && out.size() > environment().limits.output)
    status = raise("RuntimeError", "the output of the template is too long");
  if (!status && status.error().where.line == 0) {
    Error error = status.error();
    error.where.line = node.line;
    error.where.column = trace_ != nullptr ? node.column : 0;
    error.where.file = file_ != nullptr ? *file_ : "";
    return error;
  }
  return status;
}

Status Renderer::execute(const Stmt& node, const ScopePtr& scope, std::string& out) {
  using Kind = Stmt::Kind;
  const size_t before = out.size();
  switch (node.kind) {
    case Kind::data:
      if (extended_ == nullptr || scope != top_)
        out += node.text;
      if (trace_ != nullptr)
        trace_->add(out, before, file_, node);
      return {};
    case Kind::output:
      return output(node, scope, out);
    case Kind::for_: {
      const Value iterable = TRY(eval(*node.exprs[0], scope));
      return loop(node, iterable, scope, out, 0);
    }
    case Kind::if_: {
      const Value condition = TRY(eval(*node.exprs[0], scope));
      if (condition.is_strictly_undefined())
        return undefined_error(condition);
      return body(is_true(condition) ? node.body : node.otherwise, scope, out);
    }
    case Kind::set: {
      const Value value = TRY(eval(*node.exprs[0], scope));
      return bind(*node.target, value, scope);
    }
    case Kind::set_block:
      return set_block(node, scope);
    case Kind::with:
      return with(node, scope, out);
    case Kind::macro:
      scope->names[node.text] =
          Value(ObjectPtr(std::make_shared<Macro>(*this, node.macro, scope, file_)));
      return {};
    case Kind::call_block:
      return call_block(node, scope, out);
    case Kind::filter_block: {
      std::string inner;
      if (Status status = body(node.body, new_scope(scope), inner);
          !status || leaving_ != LoopExit::nothing)
        return status;
      const Value value = TRY(filter_chain(node.filter.get(), Value(std::move(inner)), scope));
      out += TRY(shown(value));
      if (trace_ != nullptr)
        trace_->add(out, before, file_, node);
      return {};
    }
    case Kind::block:
      if (extended_ != nullptr && scope == top_)
        return {};
      return block(node.text, 0, node.is_scoped ? scope : top_, out);
    case Kind::extends:
      return extends(node, scope);
    case Kind::include:
      return include(node, scope, out);
    case Kind::import:
    case Kind::from_import:
      return import(node, scope);
    case Kind::do_: {
      const Result<Value> value = eval(*node.exprs[0], scope);
      return value ? Status() : Status(value.error());
    }
    case Kind::break_:
    case Kind::continue_:
      leaving_ = node.kind == Kind::break_ ? LoopExit::loop : LoopExit::turn;
      return {};
    case Kind::scope:
      return body(node.body, new_scope(scope), out);
  }
  return {};
}

Status Renderer::output(const Stmt& node, const ScopePtr& scope, std::string& out) {
  if (extended_ != nullptr && scope == top_)
    return {};
  for (const ExprPtr& expr : node.exprs) {
    const Value value = TRY(eval(*expr, scope));
    const size_t before = out.size();
    out += TRY(shown(value));
    if (trace_ != nullptr)
      trace_->add(out, before, file_, node);
  }
  return {};
}

Status Renderer::bind(const Expr& target, const Value& value, const ScopePtr& scope) {
  if (target.kind == Expr::Kind::name) {
    scope->names[target.name] = value;
    return {};
  }
  if (target.kind == Expr::Kind::attribute) {
    const Value object = TRY(eval(*target.operands[0], scope));
    if (!object.is_object() || !object.object()->set_attribute(target.name, value))
      return raise("jinja2.exceptions.TemplateRuntimeError",
                   "cannot assign attribute on non-namespace object");
    return {};
  }
  if (value.is_number() || value.is_none())
    return raise("TypeError", cat("cannot unpack non-iterable ", type_name(value), " object"));
  const Items items = TRY(items_of(value));
  const size_t wanted = target.operands.size();
  if (items.size() > wanted)
    return raise("ValueError", cat("too many values to unpack (expected ", wanted, ")"));
  if (items.size() < wanted)
    return raise("ValueError", cat("not enough values to unpack (expected ", wanted, ", got ",
                                   items.size(), ")"));
  for (size_t i = 0; i < wanted; ++i)
    if (Status status = bind(*target.operands[i], items[i], scope); !status)
      return status;
  return {};
}

Status Renderer::loop(const Stmt& node, const Value& iterable, const ScopePtr& scope,
                      std::string& out, int depth) {
  Items items = TRY(node.filter == nullptr ? unread_items_of(iterable) : items_of(iterable));
  if (node.filter != nullptr) {
    Items kept;
    for (Value& item : items) {
      if (Status status = spend(cost::scope); !status)
        return status;
      const ScopePtr inner = new_scope(scope);
      if (Status status = bind(*node.target, item, inner); !status)
        return status;
      const Value condition = TRY(eval(*node.filter, inner));
      if (condition.is_strictly_undefined())
        return undefined_error(condition);
      if (is_true(condition))
        kept.push_back(std::move(item));
    }
    items = std::move(kept);
  }
  if (items.empty())
    return body(node.otherwise, new_scope(scope), out);
  const auto state = std::make_shared<Loop>(*this, node, scope, std::move(items), depth);
  bool is_complete = false;
  for (state->at = 0; state->at < state->items.size(); ++state->at) {
    if (Status status = spend(cost::scope); !status)
      return status;
    const ScopePtr inner = new_scope(scope);
    if (const Value& item = state->items[state->at]; item.is_object())
      TRY(item.object()->readable());
    if (Status status = bind(*node.target, state->items[state->at], inner); !status)
      return status;
    inner->names["loop"] = Value(ObjectPtr(state));
    if (Status status = body(node.body, inner, out); !status)
      return status;
    const LoopExit leaving = std::exchange(leaving_, LoopExit::nothing);
    is_complete |= leaving == LoopExit::nothing;
    if (leaving == LoopExit::loop)
      break;
  }
  return is_complete ? Status() : body(node.otherwise, new_scope(scope), out);
}

Result<Value> Renderer::filter_chain(const Expr* chain, Value value, const ScopePtr& scope) {
  if (chain == nullptr)
    return value;
  value = TRY(filter_chain(chain->operands[0].get(), std::move(value), scope));
  Arguments given = TRY(arguments(chain->arguments, scope));
  given.positional.insert(given.positional.begin(), std::move(value));
  return filter_of(*chain, given);
}

Status Renderer::set_block(const Stmt& node, const ScopePtr& scope) {
  std::string inner;
  if (Status status = body(node.body, new_scope(scope), inner);
      !status || leaving_ != LoopExit::nothing)
    return status;
  const Value value = TRY(filter_chain(node.filter.get(), Value(std::move(inner)), scope));
  return bind(*node.target, value, scope);
}

Status Renderer::call_block(const Stmt& node, const ScopePtr& scope, std::string& out) {
  const Expr& expr = *node.exprs[0];
  const Value callee = TRY(eval(*expr.operands[0], scope));
  Arguments given = TRY(arguments(expr.arguments, scope));
  given.named.emplace_back(
      "caller", Value(ObjectPtr(std::make_shared<Macro>(*this, node.macro, scope, file_))));
  const Value value = TRY(call(callee, given));
  const size_t before = out.size();
  out += TRY(shown(value));
  if (trace_ != nullptr)
    trace_->add(out, before, file_, node);
  return {};
}

Status Renderer::with(const Stmt& node, const ScopePtr& scope, std::string& out) {
  const ScopePtr inner = new_scope(scope);
  for (const NamedExpr& name : node.names)
    inner->names[name.name] = TRY(eval(*name.value, scope));
  return body(node.body, inner, out);
}

void Renderer::collect(const Body& body, const std::string& file) {
  for (const auto& node : body) {
    if (node->kind == Stmt::Kind::block)
      blocks_[node->text].push_back({node.get(), &file});
    collect(node->body, file);
    collect(node->otherwise, file);
    if (node->macro != nullptr)
      collect(node->macro->body, file);
  }
}

Status Renderer::run(const std::shared_ptr<const Tree>& first, const ScopePtr& top,
                     std::string& out) {
  top_ = top;
  std::shared_ptr<const Tree> tree = first;
  for (int parents = 0; parents < most_parents; ++parents) {
    kept_.push_back(tree);
    file_ = &tree->name;
    collect(tree->body, tree->name);
    extended_ = nullptr;
    if (Status status = body(tree->body, top, out); !status)
      return status;
    if (extended_ == nullptr)
      return {};
    tree = extended_;
  }
  return raise("RecursionError", "templates extend one another in a circle");
}

Status Renderer::block(const std::string& name, size_t level, const ScopePtr& scope,
                       std::string& out) {
  const auto found = blocks_.find(name);
  if (found == blocks_.end() || level >= found->second.size())
    return raise("jinja2.exceptions.UndefinedError",
                 cat("there is no parent block called '", name, "'."));
  const Definition& definition = found->second[level];
  if (definition.block->is_required && level == 0)
    return raise("jinja2.exceptions.TemplateRuntimeError",
                 cat("Required block '", name, "' not found"));
  const ScopePtr inner = new_scope(scope);
  inner->names["super"] =
      Value(ObjectPtr(std::make_shared<BlockReference>(*this, name, level + 1, inner)));
  inner->names["self"] = Value(ObjectPtr(std::make_shared<SelfReference>(*this, scope)));
  const std::string* const file = std::exchange(file_, definition.file);
  const std::shared_ptr<const Tree> extended = std::exchange(extended_, nullptr);
  Status status = body(definition.block->body, inner, out);
  extended_ = extended;
  file_ = file;
  return status;
}

Status Renderer::extends(const Stmt& node, const ScopePtr& scope) {
  const Value name = TRY(eval(*node.exprs[0], scope));
  if (extended_ != nullptr)
    return raise("jinja2.exceptions.TemplateRuntimeError", "extended multiple times");
  extended_ = TRY(template_of(name, false));
  return {};
}

Result<std::shared_ptr<const Tree>> Renderer::template_of(const Value& name, bool may_be_missing) {
  if (name.is_undefined())
    return undefined_error(name);
  Items names{name};
  if (name.is_list())
    names = name.list().items;
  std::string tried;
  for (const Value& one : names) {
    if (!one.is_text())
      return raise("TypeError", cat("a template's name must be a string, not ", type_name(one)));
    if (auto tree = TRY(engine_.find(one.text())))
      return tree;
    tried += cat(tried.empty() ? "" : ", ", text_of(one));
  }
  if (may_be_missing)
    return std::shared_ptr<const Tree>();
  if (name.is_list())
    return raise("jinja2.exceptions.TemplatesNotFound",
                 cat("none of the templates given were found: ", tried));
  return raise("jinja2.exceptions.TemplateNotFound", tried);
}

Status Renderer::include(const Stmt& node, const ScopePtr& scope, std::string& out) {
  if (extended_ != nullptr && scope == top_)
    return {};
  const Value name = TRY(eval(*node.exprs[0], scope));
  const std::shared_ptr<const Tree> tree = TRY(template_of(name, node.ignores_missing));
  if (tree == nullptr)
    return {};
  const Lookup nothing = names_of(Value());
  if (Status status = spend(cost::template_of_its_own); !status)
    return status;
  Renderer& inner = *included_.emplace_back(
      std::make_unique<Renderer>(engine_, node.has_context ? context_ : nothing, trace_));
  inner.level_ = level_ + 20;
  if (inner.level_ > deepest_block)
    return raise("RecursionError", "maximum recursion depth exceeded");
  Status status = inner.run(tree, inner.new_scope(node.has_context ? scope : nullptr), out);
  return status;
}

Result<ScopePtr> Renderer::module_of(const Stmt& node, const ScopePtr& scope) {
  const Value name = TRY(eval(*node.exprs[0], scope));
  const std::shared_ptr<const Tree> tree = TRY(template_of(name, false));
  if (Status status = spend(cost::template_of_its_own); !status)
    return status.error();
  const Lookup nothing = names_of(Value());
  const auto module =
      std::make_shared<TemplateModule>(engine_, node.has_context ? context_ : nothing);
  module->renderer.level_ = level_ + 20;
  if (module->renderer.level_ > deepest_block)
    return raise("RecursionError", "maximum recursion depth exceeded");
  module->top = module->renderer.new_scope(node.has_context ? scope : nullptr);
  module->tree = tree;
  modules_.push_back(module);  // before it runs, so that `end` finds what a failure leaves
  std::string ignored;
  Status status = module->renderer.run(tree, module->top, ignored);
  if (!status)
    return status.error();
  return module->top;
}

Status Renderer::import(const Stmt& node, const ScopePtr& scope) {
  const ScopePtr module = TRY(module_of(node, scope));
  if (node.kind == Stmt::Kind::import) {
    scope->names[node.text] = Value(ObjectPtr(modules_.back()));
    return {};
  }
  for (size_t i = 0; i < node.names.size(); ++i) {
    const std::string& name = node.names[i].name;
    const auto found = module->names.find(name);
    scope->names[node.aliases[i]] =
        found != module->names.end()
            ? found->second
            : Value::undefined(cat("the template '", modules_.back()->tree->name,
                                   "' (imported on line ", node.line, " in '",
                                   file_ == nullptr ? "" : *file_,
                                   "') does not export the requested name '", name, "'"));
  }
  return {};
}

Scope::~Scope() {
  Items values;
  for (auto& [name, value] : names)
    if (value.can_nest())
      values.push_back(std::move(value));
  if (!values.empty())
    drop(std::move(values));
}

ScopePtr Renderer::new_scope(ScopePtr parent) {
  ScopePtr scope = std::make_shared<Scope>();
  scope->parent = std::move(parent);
  scopes_.push_back(*scope);
  return scope;
}

void Renderer::end() {
  for (const auto& module : modules_)
    module->renderer.end();
  for (const auto& renderer : included_)
    renderer->end();
  std::vector<decltype(Scope::names)> dropped;
  for (Scope& scope : scopes_)
    dropped.push_back(std::exchange(scope.names, {}));
  scopes_.clear();  // before what they held goes, and with it some of them
  circles_.release();
}

Result<std::shared_ptr<const Tree>> Engine::find(const std::string& name) {
  if (const auto known = trees_.find(name); known != trees_.end())
    return known->second;
  if (!environment_.load)
    return std::shared_ptr<const Tree>();
  const std::optional<std::string> source = TRY(environment_.load(name));
  if (!source)
    return std::shared_ptr<const Tree>();
  std::shared_ptr<const Tree> tree = TRY(parse(name, *source, environment_.syntax));
  if (Status status = check_names(*tree, environment_); !status)
    return status.error();
  trees_.emplace(name, tree);
  return tree;
}

namespace {

Result<std::string> render_tree(Engine& engine, const std::shared_ptr<const Tree>& tree,
                                const Lookup& names) {
  std::string out;
  Renderer renderer(engine, names);
  Status status = renderer.run(tree, renderer.new_scope(nullptr), out);
  renderer.end();
  if (!status)
    return status.error();
  if (engine.budget().is_over())
    return budget_error(engine.budget());
  return out;
}

}  // namespace

Result<std::string> Engine::render(const std::string& name, const Lookup& names) {
  budget_.begin();
  const Budget::Scope scope(budget_);
  const std::shared_ptr<const Tree> tree = TRY(find(name));
  if (tree == nullptr)
    return raise("jinja2.exceptions.TemplateNotFound", name);
  return render_tree(*this, tree, names);
}

Result<std::string> Engine::render_text(const std::string& name, std::string_view source,
                                        const Lookup& names) {
  budget_.begin();
  const Budget::Scope scope(budget_);
  const std::shared_ptr<const Tree> tree = TRY(parse(name, source, environment_.syntax));
  if (Status status = check_names(*tree, environment_); !status)
    return status.error();
  return render_tree(*this, tree, names);
}

Result<TracedText> Engine::trace_text(const std::string& name, std::string_view source,
                                      const Lookup& names) {
  budget_.begin();
  const Budget::Scope scope(budget_);
  const std::shared_ptr<const Tree> tree = TRY(parse(name, source, environment_.syntax));
  if (Status status = check_names(*tree, environment_); !status)
    return status.error();
  TracedText traced;
  traced.files.push_back(name);
  Trace trace(traced);
  Renderer renderer(*this, names, &trace);
  Status status = renderer.run(tree, renderer.new_scope(nullptr), traced.text);
  renderer.end();
  if (!status)
    return status.error();
  if (budget_.is_over())
    return budget_error(budget_);
  return traced;
}

Lookup names_of(const Value& dict) {
  return [dict](std::string_view name) -> Result<std::optional<Value>> {
    const Value* found = dict.is_dict() ? dict.dict_data().find(Value(name)) : nullptr;
    return found == nullptr ? std::optional<Value>() : std::optional<Value>(*found);
  };
}

}  // namespace fettle::jinja
