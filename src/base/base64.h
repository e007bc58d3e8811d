#pragma once
/// Bytes as 64 printable characters.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

std::string base64_encode(std::string_view bytes);

/// Decodes like Python: other characters than the 64 are skipped. Errors are worded as Python's.
Result<std::string> base64_decode(std::string_view text);

/// Decodes like Go: only line ends are skipped, and nothing may follow the padding.
Result<std::string> base64_decode_strictly(std::string_view text);

}  // namespace fettle
