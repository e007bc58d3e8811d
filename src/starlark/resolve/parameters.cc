/// The order and the number of parameters and arguments.

#include "starlark/resolve/resolver.h"

namespace fettle::starlark {

void Resolver::bind_parameters(FunctionNode* node) {
  const auto starred = [](const ParameterNode& parameter) {
    return parameter.kind == ParameterKind::rest || parameter.kind == ParameterKind::named_rest;
  };
  for (const ParameterNode& parameter : node->parameters) {
    if (parameter.name == nullptr)
      continue;
    const Binding* known = parameter.name->binding;
    if (known == nullptr || known->function != node) {
      bind_local(parameter.name, parameter.at);
      continue;
    }
    const ParameterNode* told = &parameter;
    for (const ParameterNode& other : node->parameters) {
      if (&other == &parameter)
        break;
      if (other.name == parameter.name && starred(other) && !starred(parameter))
        told = &other;
    }
    error(told->name_at, cat("duplicate parameter: ", parameter.name->text));
  }
}

void Resolver::parameters(FunctionNode* node) {
  bool optional = false;
  const ParameterNode* star = nullptr;
  const ParameterNode* star_star = nullptr;
  size_t keyword_only = 0;
  for (const ParameterNode& parameter : node->parameters) {
    const auto after = [&](std::string_view what) {
      error(parameter.at, cat(what, " may not follow **", star_star->name->text));
    };
    switch (parameter.kind) {
      case ParameterKind::required:
        if (star_star != nullptr)
          after("required parameter");
        else if (star != nullptr)
          ++keyword_only;
        else if (optional)
          error(parameter.at, "required parameter may not follow optional");
        break;
      case ParameterKind::optional:
        if (star_star != nullptr)
          error(parameter.name_at,
                cat("optional parameter may not follow **", star_star->name->text));
        else if (star != nullptr)
          ++keyword_only;
        optional = true;
        expression(parameter.fallback);
        break;
      case ParameterKind::rest:
      case ParameterKind::bare_star:
        if (star_star != nullptr)
          after("* parameter");
        else if (star != nullptr)
          error(parameter.at, "multiple * parameters not allowed");
        else
          star = &parameter;
        break;
      case ParameterKind::named_rest:
        if (star_star != nullptr)
          error(parameter.at, "multiple ** parameters not allowed");
        star_star = &parameter;
        break;
    }
  }
  if (star != nullptr && star->kind == ParameterKind::bare_star && keyword_only == 0)
    error(star->at, "bare * must be followed by keyword-only parameters");
}

void Resolver::arguments(CallNode* call) {
  bool rest = false;
  bool named_rest = false;
  size_t positional = 0;
  size_t named = 0;
  for (const Argument& argument : call->arguments) {
    const uint32_t at = argument.at;
    switch (argument.kind) {
      case ArgumentKind::positional:
        ++positional;
        if (rest)
          error(at, "positional argument may not follow *args");
        else if (named_rest)
          error(at, "positional argument may not follow **kwargs");
        else if (named > 0)
          error(at, "positional argument may not follow named");
        break;
      case ArgumentKind::named:
        if (named_rest)
          error(at, "keyword argument may not follow **kwargs");
        else if (rest)
          error(at, "keyword argument may not follow *args");
        for (const Argument& other : call->arguments) {
          if (&other == &argument)
            break;
          if (other.kind == ArgumentKind::named && other.name == argument.name) {
            error(at, cat("keyword argument \"", argument.name->text, "\" is repeated"));
            break;
          }
        }
        if (++named == 256)
          error(at, "256 keyword arguments in call, limit is 255");
        break;
      case ArgumentKind::rest:
        if (named_rest)
          error(at, "*args may not follow **kwargs");
        else if (rest)
          error(at, "multiple *args not allowed");
        rest = true;
        break;
      case ArgumentKind::named_rest:
        if (named_rest)
          error(at, "multiple **kwargs not allowed");
        named_rest = true;
        break;
    }
    if (named > 256)
      break;
    expression(argument.value);
  }
  if (positional > 255)
    error(call->at, cat(positional, " positional arguments in call, limit is 255"));
}

}  // namespace fettle::starlark
