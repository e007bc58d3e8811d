#pragma once
/// Says what every name of a file means, before anything runs, and finds all static errors at once.

#include <functional>
#include <optional>
#include <vector>

#include "starlark/starlark.h"
#include "starlark/syntax/ast.h"

namespace fettle::starlark {

/// What a name that the file does not bind means.
struct Outside {
  Value value;
  bool universal;  ///< of the language, not of the host
};

struct ResolveInput {
  const Dialect& dialect;
  std::string_view file;    ///< for messages
  std::string_view source;  ///< likewise
  std::function<std::optional<Outside>(std::string_view)> outside;
  std::function<std::vector<std::string>()> outside_names;  ///< for suggestions
};

struct Resolved {
  std::vector<Binding*> globals;    ///< in order of first binding
  std::vector<SyntaxError> errors;  ///< in order of the text
};

Resolved resolve(FunctionNode* file, Arena& arena, const ResolveInput& input);

}  // namespace fettle::starlark
