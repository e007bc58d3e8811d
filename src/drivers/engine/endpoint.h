#pragma once
/// The endpoint of a request in a recipe.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// As it is sent: what Go's `net/url` makes of the path, without a fragment. A path with a
/// character that has to be escaped is unescaped and escaped as a whole; the query stays as it is,
/// but for characters that no request may have. Errors (`Blame::user`): control characters, `%`
/// without two digits in the path.
Result<std::string> encoded_endpoint(std::string_view endpoint);

}  // namespace fettle
