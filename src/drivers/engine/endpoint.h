#pragma once
/// The endpoint of a request in a recipe.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// The endpoint as it is sent: what Go's `net/url` makes of the path, without a fragment. If a
/// character of the path has to be escaped, the path is unescaped and escaped as a whole. The query
/// is not changed, except for characters that no request may have. Errors (`Blame::user`): control
/// characters, or `%` without two digits in the path.
Result<std::string> encoded_endpoint(std::string_view endpoint);

}  // namespace fettle
