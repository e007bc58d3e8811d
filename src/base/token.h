#pragma once
/// Secrets that let somebody in: keys of the page, tokens of a server.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// 256 random bits as 64 hexadecimal digits. `what`, for the error: `a token`.
Result<std::string> new_token(std::string_view what);
/// Takes the same time wherever they differ. An empty one is nobody's.
bool is_same_token(std::string_view one, std::string_view other);

}  // namespace fettle
