/// Binds names, and finds out what a use of one means.

#include <algorithm>

#include "starlark/resolve/resolver.h"
#include "starlark/syntax/spelling.h"

namespace fettle::starlark {

Binding* Resolver::make(Symbol* symbol, Scope scope, size_t index, uint32_t first,
                        FunctionNode* function) {
  return arena_.make<Binding>(symbol, scope, u32(index), first, function, symbol->binding, false,
                              false, false, 0u, nullptr, Value::unset());
}

std::string Resolver::place(uint32_t at) {
  if (!lines_)
    lines_.emplace(input_.source);
  const auto [line, column] = lines_->at(at);
  return cat(input_.file, ":", line, ":", column);
}

void Resolver::bind_global(Identifier* id) {
  Binding* known = id->symbol->binding;
  // A loaded name of the file hides a global, which is still exported.
  const bool hides = id->loaded && !dialect_.load_binds_globally;
  if (known == nullptr || (hides && !known->loaded)) {
    known = make(id->symbol, Scope::global, result_.globals.size(), id->at, nullptr);
    known->loaded = id->loaded;
    id->symbol->binding = known;
    result_.globals.push_back(known);
  } else if (!dialect_.global_reassign) {
    const bool local = known->loaded && !dialect_.load_binds_globally;
    if (local && id->loaded) {
      error(id->at, cat("cannot reassign top-level ", id->symbol->text));
      id->binding = known;
      return;
    }
    error(id->at, cat("cannot reassign ", local ? "local" : "global", " ", id->symbol->text,
                      " declared at ", place(known->first)));
  }
  id->binding = known;
}

void Resolver::enter(FunctionNode* function) {
  if (free_levels_.empty()) {
    levels_.push_back(std::make_unique<Level>());
  } else {
    levels_.push_back(std::move(free_levels_.back()));
    free_levels_.pop_back();
  }
  Level& entered = level();
  entered.function = function;
  entered.bindings.clear();
  entered.free.clear();
  entered.loops = entered.conditions = 0;
  if (in_function())
    unknown_.emplace_back();
  function->parent = levels_.size() > 1 ? levels_[levels_.size() - 2]->function : nullptr;
}

void Resolver::leave() {
  if (in_function())
    unknown_.pop_back();
  Level& left = level();
  for (const Binding* binding : left.bindings)
    binding->symbol->binding = binding->outer;
  for (const Binding* binding : left.free)
    binding->symbol->binding = binding->outer;
  left.function->bindings = arena_.copy(std::span<Binding* const>(left.bindings));
  left.function->free = arena_.copy(std::span<Binding* const>(left.free));
  free_levels_.push_back(std::move(levels_.back()));
  levels_.pop_back();
}

Binding* Resolver::bind_local(Symbol* symbol, uint32_t at) {
  Binding* binding = make(symbol, Scope::local, level().bindings.size(), at, level().function);
  symbol->binding = binding;
  level().bindings.push_back(binding);
  return binding;
}

void Resolver::bound(Identifier* id) {
  if (id->binding != nullptr)
    id->binding->bound = true;
}

Binding* Resolver::capture(Binding* binding, size_t depth) {
  FunctionNode* function = levels_[depth]->function;
  if (binding->function == function)
    return binding;
  Binding* source = capture(binding, depth - 1);
  if (source->scope == Scope::local)
    source->scope = Scope::cell;
  source->captured = true;
  std::vector<Binding*>& free = levels_[depth]->free;
  Binding* made =
      arena_.make<Binding>(binding->symbol, Scope::free, u32(free.size()), binding->first, function,
                           source, true, false, false, 0u, nullptr, Value::unset());
  free.push_back(made);
  return made;
}

void Resolver::use(Identifier* id) {
  Binding* binding = id->symbol->binding;
  if (binding != nullptr && binding->scope == Scope::global && dialect_.global_reassign &&
      !in_function() && !binding->bound)
    binding = outside(id, binding);
  else if (binding == nullptr)
    binding = outside(id, nullptr);
  else if (binding->function != nullptr && binding->function != level().function) {
    binding = capture(binding, levels_.size() - 1);
    id->symbol->binding = binding;
  }
  id->binding = binding;
}

Binding* Resolver::outside(Identifier* id, Binding* hidden_by) {
  const std::optional<Outside> found = input_.outside(id->symbol->text);
  if (!found) {
    undefined(id);
    return nullptr;
  }
  Binding* binding = make(id->symbol, found->universal ? Scope::universal : Scope::predeclared, 0,
                          id->at, nullptr);
  binding->value = found->value;
  if (hidden_by == nullptr)
    id->symbol->binding = binding;
  return binding;
}

std::string Resolver::similar_name(std::string_view wanted) const {
  std::vector<std::string_view> names;
  for (const Binding* global : result_.globals)
    names.push_back(global->symbol->text);
  for (const auto& open : levels_) {
    for (const Binding* local : open->bindings)
      names.push_back(local->symbol->text);
  }
  std::sort(names.begin(), names.end());
  if (const std::string_view near = nearest_name(wanted, names); !near.empty())
    return std::string(near);
  const std::vector<std::string> outside = input_.outside_names();
  return std::string(
      nearest_name(wanted, std::vector<std::string_view>(outside.begin(), outside.end())));
}

bool Resolver::told_already(const Identifier* id) {
  for (const Unknown& block : unknown_) {
    for (const auto& [symbol, index] : block) {
      if (symbol != id->symbol)
        continue;
      result_.errors[index].at = std::min(result_.errors[index].at, id->at);
      return true;
    }
  }
  for (Unknown& block : unknown_) {
    if (result_.errors.size() < most_errors)
      block.emplace_back(id->symbol, result_.errors.size());
  }
  return false;
}

void Resolver::undefined(Identifier* id) {
  if (told_already(id))
    return;
  if (id->symbol->text == "set")
    return error(id->at, "this Starlark dialect does not support sets");
  std::string hint;
  if (result_.errors.size() < 20) {
    if (const std::string near = similar_name(id->symbol->text); !near.empty())
      hint = cat(" (did you mean ", near, "?)");
  }
  error(id->at, cat("undefined: ", id->symbol->text, hint));
}

}  // namespace fettle::starlark
