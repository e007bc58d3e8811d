#pragma once
/// Bytes as 64 printable characters.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

std::string base64_encode(std::string_view bytes);

/// As Python reads it: characters that are none of the 64 are skipped. An error is worded as
/// Python's.
Result<std::string> base64_decode(std::string_view text);

/// As Go reads it: line ends are skipped, nothing else, and nothing follows the padding.
Result<std::string> base64_decode_strictly(std::string_view text);

}  // namespace fettle
