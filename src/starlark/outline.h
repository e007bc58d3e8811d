#pragma once
/// What a file says of one of its functions, without running it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle::starlark {

struct FunctionOutline {
  struct Parameter {
    std::string name;
    bool is_rest = false;  ///< `*args`, `**kwargs` or a bare star
    Where where;
  };
  std::vector<Parameter> parameters;
  std::string doc;  ///< the text that is its first statement; empty if there is none
  Where where;
};

/// The first function of that name at the top of a file; none if there is not any. Error: of
/// syntax.
Result<std::optional<FunctionOutline>> outline_of(const std::string& file, std::string_view text,
                                                  std::string_view function);

}  // namespace fettle::starlark
