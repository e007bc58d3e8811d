#include "model/export/origins.h"

namespace fettle::model {

namespace {
uint64_t number_of(Place at) {
  return (uint64_t{at.file} << (25 + 24)) | (uint64_t{at.line} << 24) | uint64_t{at.column};
}
}  // namespace

void Origin::add(const Origin& other) {
  sources.insert(other.sources.begin(), other.sources.end());
  is_from_plugin |= other.is_from_plugin;
  may_be_anything |= other.may_be_anything;
}

/// Notes the constructors, assignments and variables of one file or implementation.
class Origins::Reader {
 public:
  Reader(Origins& origins, Scope& scope) : origins_(origins), scope_(scope) {}

  void read(const Block& block) {
    for (const Stmt* statement : block.statements)
      read(*statement);
  }

 private:
  void read(const Stmt& statement) {
    switch (statement.kind) {
      case StmtKind::expression:
        return read(as<ExprStmt>(&statement).expression);
      case StmtKind::assign: {
        const auto& node = as<Assign>(&statement);
        scope_.variables[node.name.name].push_back(node.value);
        return read(node.value);
      }
      case StmtKind::assign_attribute: {
        const auto& node = as<AssignAttribute>(&statement);
        origins_.assignments_[node.name].push_back({&node, &scope_});
        read(node.object);
        return read(node.value);
      }
      case StmtKind::for_: {
        const auto& node = as<For>(&statement);
        scope_.variables[node.variable].push_back(node.iterable);
        read(node.iterable);
        return read(*node.body);
      }
      case StmtKind::if_:
        return read_if(as<If>(&statement));
    }
  }

  /// A chain of `elif` may be longer than nesting may be deep.
  void read_if(const If& first) {
    const If* node = &first;
    while (node->no->is_elif) {
      read(node->condition);
      read(*node->yes);
      node = &as<If>(node->no->statements[0]);
    }
    read(node->condition);
    read(*node->yes);
    read(*node->no);
  }

  void read(std::span<const Argument> arguments) {
    for (const Argument& argument : arguments)
      read(argument.value);
  }

  void read(const Expr* expr) {
    if (expr == nullptr)
      return;
    switch (expr->kind) {
      case ExprKind::constructor:
        origins_.constructors_.emplace(number_of(expr->at),
                                       ConstructorSite{&as<Constructor>(expr), &scope_});
        return read(as<Constructor>(expr).arguments);
      case ExprKind::format:
        for (const FormatPart& part : as<Format>(expr).parts)
          read(part.value);
        return;
      case ExprKind::attribute:
        return read(as<AttributeRef>(expr).object);
      case ExprKind::call:
        return read(as<Call>(expr).arguments);
      case ExprKind::list:
        for (const Expr* item : as<ListExpr>(expr).items)
          read(item);
        return;
      case ExprKind::comprehension: {
        const auto& node = as<Comprehension>(expr);
        scope_.variables[node.variable].push_back(node.iterable);
        read(node.iterable);
        read(node.guard);
        return read(node.value);
      }
      case ExprKind::dict:
        for (const DictItem& item : as<DictExpr>(expr).items)
          read(item.value);
        return;
      case ExprKind::index_lookup:
        return read(as<IndexLookup>(expr).arguments);
      case ExprKind::short_lookup:
        read(as<ShortLookup>(expr).relation);
        return read(as<ShortLookup>(expr).arguments);
      case ExprKind::map_lookup:
        read(as<MapLookup>(expr).object);
        return read(as<MapLookup>(expr).key);
      case ExprKind::binary:
        read(as<Binary>(expr).left);
        return read(as<Binary>(expr).right);
      case ExprKind::negation:
        return read(as<Negation>(expr).operand);
      case ExprKind::conditional:
        read(as<Conditional>(expr).condition);
        read(as<Conditional>(expr).yes);
        return read(as<Conditional>(expr).no);
      case ExprKind::is_defined:
        return read(as<IsDefined>(expr).operand);
      case ExprKind::constant:
      case ExprKind::name:
      case ExprKind::regex:
        return;
    }
  }

  Origins& origins_;
  Scope& scope_;
};

/// Walks backwards from one attribute.
class Origins::Walk {
 public:
  Walk(const Origins& origins, const Instance* border)
      : origins_(origins), model_(origins.model_), border_(border) {}

  Origin take(const Source& source) {
    follow(source);
    return std::move(found_);
  }

 private:
  /// The place of an expression, and the instance for which it runs. Null: the top level.
  struct Standpoint {
    const Scope* scope;
    const Instance* self;
  };

  void follow(const Source& source) {
    const auto [instance, slot] = source;
    const Attribute& attribute = *instance->entity->slots[slot];
    if (!found_.sources.insert(source).second || attribute.target != nullptr)
      return;
    const auto made = origins_.constructors_.find(number_of(instance->at));
    if (made == origins_.constructors_.end())
      return lose();
    const auto [node, scope] = made->second;
    for (const Argument& argument : node->arguments) {
      if (!argument.is_unpacked && argument.name != attribute.name)
        continue;
      if (instance == border_)
        return;
      return argument.is_unpacked ? lose()
                                  : follow(argument.value, {scope, model_.maker(*instance)});
    }
    if (!instance->entity->defaults[slot].is_set())
      follow_assignments(source);
  }

  /// The value was given by a statement of its giver's implementations, or of a file.
  void follow_assignments(const Source& source) {
    const auto [instance, slot] = source;
    const Instance* const by = model_.contributor(instance->cells[slot].value.by);
    const auto assigned = origins_.assignments_.find(instance->entity->slots[slot]->name);
    if (assigned == origins_.assignments_.end())
      return lose();
    for (const auto& [node, scope] : assigned->second)
      if (by == nullptr ? scope->entity == nullptr
                        : scope->entity != nullptr && by->entity->is_a(scope->entity))
        follow(node->value, {scope, by});
  }

  void follow(const Expr* expr, const Standpoint& at) {
    constexpr int deepest = 200;
    if (++depth_ > deepest)
      lose();
    else
      follow_one(expr, at);
    --depth_;
  }

  void follow_one(const Expr* expr, const Standpoint& at) {
    switch (expr->kind) {
      case ExprKind::constant:
      case ExprKind::is_defined:
      case ExprKind::regex:
        return;
      case ExprKind::format:
        for (const FormatPart& part : as<Format>(expr).parts)
          if (part.value != nullptr)
            follow(part.value, at);
        return;
      case ExprKind::name:
        return follow_name(as<Name>(expr), at);
      case ExprKind::attribute: {
        const Source source = source_of(as<AttributeRef>(expr), at);
        return source.first == nullptr ? lose() : follow(source);
      }
      case ExprKind::call:
        return follow_call(as<Call>(expr), at);
      case ExprKind::list:
        for (const Expr* item : as<ListExpr>(expr).items)
          follow(item, at);
        return;
      case ExprKind::comprehension:
        follow(as<Comprehension>(expr).iterable, at);
        return follow(as<Comprehension>(expr).value, at);
      case ExprKind::dict:
        for (const DictItem& item : as<DictExpr>(expr).items)
          follow(item.value, at);
        return;
      case ExprKind::map_lookup:
        follow(as<MapLookup>(expr).object, at);
        return follow(as<MapLookup>(expr).key, at);
      case ExprKind::binary:
        follow(as<Binary>(expr).left, at);
        return follow(as<Binary>(expr).right, at);
      case ExprKind::negation:
        return follow(as<Negation>(expr).operand, at);
      case ExprKind::conditional:
        follow(as<Conditional>(expr).yes, at);
        return follow(as<Conditional>(expr).no, at);
      case ExprKind::constructor:
      case ExprKind::index_lookup:
      case ExprKind::short_lookup:
        return lose();
    }
  }

  /// The result of a plugin may contain whatever the plugin was given.
  void follow_call(const Call& call, const Standpoint& at) {
    found_.is_from_plugin |= call.plugin != nullptr;
    if (!call.visible.empty())
      lose();
    for (const Argument& argument : call.arguments)
      follow(argument.value, at);
  }

  void follow_name(const Name& name, const Standpoint& at) {
    if (name.found == NameKind::global)
      return follow_variable(name, {origins_.files_[name.depth], nullptr});
    if (name.found == NameKind::local)
      return follow_variable(name, at);
    const Source source = source_of(name, at);
    if (source.first == nullptr)
      return lose();
    follow(source);
  }

  /// Several blocks may have variables of this name: it may be any of them.
  void follow_variable(const Name& name, const Standpoint& at) {
    const auto variable = at.scope->variables.find(name.name.name);
    if (variable == at.scope->variables.end())
      return lose();
    if (followed_.emplace(variable->second.data(), at.self).second)
      for (const Expr* value : variable->second)
        follow(value, at);
  }

  Source source_of(const Name& name, const Standpoint& at) const {
    const bool is_attribute =
        name.found == NameKind::self_attribute || name.found == NameKind::child_attribute;
    return is_attribute ? source_at(at.self, name.name.name) : Source();
  }
  Source source_of(const AttributeRef& ref, const Standpoint& at) const {
    return source_at(instance_of(ref.object, at), ref.name);
  }
  static Source source_at(const Instance* instance, Symbol name) {
    const uint32_t slot = instance == nullptr ? no_slot : instance->entity->slot(name);
    return slot == no_slot ? Source() : Source(instance, slot);
  }

  /// The instance for which an expression stands, as far as relations lead to it; else null.
  const Instance* instance_of(const Expr* expr, const Standpoint& at) const {
    if (expr->kind == ExprKind::name && as<Name>(expr).found == NameKind::self_value)
      return at.self;
    const Source source = expr->kind == ExprKind::name ? source_of(as<Name>(expr), at)
                          : expr->kind == ExprKind::attribute
                              ? source_of(as<AttributeRef>(expr), at)
                              : Source();
    if (source.first == nullptr)
      return nullptr;
    const Datum& value = source.first->cells[source.second].value;
    return value.tag == Tag::instance ? value.instance : nullptr;
  }

  void lose() { found_.may_be_anything = true; }

  const Origins& origins_;
  const Model& model_;
  const Instance* border_;
  Origin found_;
  std::set<std::pair<const void*, const Instance*>> followed_;  ///< variables
  int depth_ = 0;
};

Origins::Origins(const Model& model) : model_(model) {
  for (const Space& space : model.program.spaces) {
    Scope& scope = scopes_.emplace_back();
    files_.push_back(&scope);
    if (space.unit.body != nullptr)
      Reader(*this, scope).read(*space.unit.body);
  }
  for (const Implementation& implementation : model.program.implementations) {
    Scope& scope = scopes_.emplace_back();
    scope.entity = implementation.entity;
    Reader(*this, scope).read(*implementation.definition->body);
  }
}

Origin Origins::of(const Source& source, const Instance* border) {
  return Walk(*this, border).take(source);
}

}  // namespace fettle::model
