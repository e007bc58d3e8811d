#include "template/jinja/objects.h"

#include "base/text.h"

namespace fettle::jinja {
namespace {

Value method(std::string name, Function function) {
  return function_value(std::move(name), std::move(function));
}

}  // namespace

Value function_value(std::string name, Function function) {
  return Value(ObjectPtr(std::make_shared<NativeFunction>(std::move(name), std::move(function))));
}

std::string Loop::text() const { return cat("<LoopContext ", at + 1, "/", items.size(), ">"); }

Result<std::optional<Value>> Loop::attribute(std::string_view name) {
  const int64_t index = static_cast<int64_t>(at);
  const int64_t size = static_cast<int64_t>(items.size());
  if (name == "index")
    return std::optional<Value>(index + 1);
  if (name == "index0")
    return std::optional<Value>(index);
  if (name == "revindex")
    return std::optional<Value>(size - index);
  if (name == "revindex0")
    return std::optional<Value>(size - index - 1);
  if (name == "first")
    return std::optional<Value>(at == 0);
  if (name == "last")
    return std::optional<Value>(index + 1 == size);
  if (name == "length")
    return std::optional<Value>(size);
  if (name == "depth" || name == "depth0")
    return std::optional<Value>(int64_t{depth_} + (name == "depth" ? 1 : 0));
  if (name == "previtem")
    return std::optional<Value>(at == 0 ? Value::undefined("there is no previous item")
                                        : items[at - 1]);
  if (name == "nextitem")
    return std::optional<Value>(at + 1 >= items.size() ? Value::undefined("there is no next item")
                                                       : items[at + 1]);
  if (name == "cycle")
    return std::optional<Value>(method("cycle", [index](Arguments& arguments) -> Result<Value> {
      if (arguments.positional.empty())
        return raise("TypeError", "no items for cycling given");
      return arguments.positional[static_cast<size_t>(index) % arguments.positional.size()];
    }));
  if (name == "changed")
    return std::optional<Value>(
        method("changed", [seen = seen_](Arguments& arguments) -> Result<Value> {
          Value now = Value::tuple(arguments.positional);
          const bool has_changed = seen->is_undefined() || !is_equal(*seen, now);
          *seen = std::move(now);
          return Value(has_changed);
        }));
  return std::optional<Value>();
}

Result<Value> Loop::call(Arguments& arguments) {
  if (!node_.is_recursive)
    return raise("TypeError",
                 "The loop must have the 'recursive' marker to be called recursively.");
  if (arguments.positional.size() != 1)
    return raise("TypeError", "loop() takes one argument");
  std::string out;
  const size_t before = at;
  if (Status status = renderer_.loop(node_, arguments.positional[0], scope_, out, depth_ + 1);
      !status)
    return status.error();
  at = before;
  return Value(std::move(out));
}

std::string Macro::text() const {
  return data_->name.empty() ? "<Macro anonymous>" : "<Macro '" + data_->name + "'>";
}

Result<std::optional<Value>> Macro::attribute(std::string_view name) {
  if (name == "name")
    return std::optional<Value>(data_->name.empty() ? Value() : Value(data_->name));
  if (name == "arguments") {
    Items names;
    for (const Parameter& parameter : data_->parameters)
      names.emplace_back(parameter.name);
    return std::optional<Value>(Value::tuple(std::move(names)));
  }
  if (name == "catch_kwargs" || name == "catch_varargs" || name == "caller")
    return std::optional<Value>(name == "caller"         ? data_->uses_caller
                                : name == "catch_kwargs" ? data_->uses_named_rest
                                                         : data_->uses_rest);
  return std::optional<Value>();
}

std::string Macro::called() const {
  return data_->name.empty() ? "macro None" : cat("macro '", data_->name, "'");
}

Status Macro::bind(Arguments& arguments, const ScopePtr& inner) {
  std::optional<Value> caller = arguments.take("caller");
  const size_t count = data_->parameters.size();
  if (arguments.positional.size() > count && !data_->uses_rest)
    return raise("TypeError", cat(called(), " takes not more than ", count, " argument(s)"));
  for (size_t i = 0; i < count; ++i) {
    const Parameter& parameter = data_->parameters[i];
    std::optional<Value> given = arguments.take(parameter.name);
    if (i < arguments.positional.size()) {
      if (given)
        return raise("TypeError",
                     cat(called(), " got multiple values for argument '", parameter.name, "'"));
      given = arguments.positional[i];
    }
    if (!given)
      given = parameter.initial != nullptr
                  ? TRY(renderer_.eval(*parameter.initial, inner))
                  : Value::undefined(cat("parameter '", parameter.name, "' was not provided"));
    inner->names[parameter.name] = *given;
  }
  if (data_->uses_caller)
    inner->names["caller"] = caller ? *caller : Value::undefined("No caller defined");
  else if (caller && data_->uses_named_rest)
    arguments.named.emplace_back("caller", *caller);
  else if (caller)
    return raise("TypeError", cat(called(),
                                  " was invoked with two values for the special caller argument. "
                                  "This is most likely a bug."));
  if (data_->uses_rest) {
    Items rest(arguments.positional.begin() +
                   static_cast<ptrdiff_t>(std::min(count, arguments.positional.size())),
               arguments.positional.end());
    inner->names["varargs"] = Value::tuple(std::move(rest));
  }
  if (data_->uses_named_rest) {
    Value rest = Value::dict();
    for (auto& [name, value] : arguments.named)
      rest.dict_data().set(Value(name), value);
    inner->names["kwargs"] = rest;
  } else if (!arguments.named.empty()) {
    return raise("TypeError",
                 cat(called(), " takes no keyword argument '", arguments.named[0].first, "'"));
  }
  return {};
}

Result<Value> Macro::call(Arguments& arguments) {
  const ScopePtr inner = renderer_.new_scope(scope_);
  if (Status status = bind(arguments, inner); !status)
    return status.error();
  std::string out;
  const std::string* const before = renderer_.enter(file_);
  Status status = renderer_.body(data_->body, inner, out);
  renderer_.enter(before);
  if (!status)
    return status.error();
  return Value(std::move(out));
}

Result<std::optional<Value>> TemplateModule::attribute(std::string_view name) {
  const auto found = top->names.find(std::string(name));
  if (found == top->names.end() || name.starts_with('_'))
    return std::optional<Value>();
  return std::optional<Value>(found->second);
}

Result<std::optional<Value>> BlockReference::attribute(std::string_view name) {
  const ScopePtr scope = scope_.lock();
  if (name != "super" || scope == nullptr)
    return std::optional<Value>();
  return std::optional<Value>(
      ObjectPtr(std::make_shared<BlockReference>(renderer_, name_, level_ + 1, scope)));
}

Result<Value> BlockReference::call(Arguments&) {
  const ScopePtr scope = scope_.lock();
  if (scope == nullptr)
    return raise("RuntimeError", "the block has ended");
  std::string out;
  if (Status status = renderer_.block(name_, level_, scope->parent, out); !status)
    return status.error();
  return Value(std::move(out));
}

Result<std::optional<Value>> SelfReference::attribute(std::string_view name) {
  if (!renderer_.has_block(std::string(name)))
    return std::optional<Value>();
  return std::optional<Value>(method(std::string(name),
                                     [renderer = &renderer_, scope = scope_,
                                      block = std::string(name)](Arguments&) -> Result<Value> {
                                       std::string out;
                                       if (Status status = renderer->block(block, 0, scope, out);
                                           !status)
                                         return status.error();
                                       return Value(std::move(out));
                                     }));
}

}  // namespace fettle::jinja
