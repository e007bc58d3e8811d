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

/// The alphabet of URLs (RFC 4648), without padding.
std::string base64url_encode(std::string_view bytes);

/// Takes what `base64url_encode` gives, and no other text for the same bytes: no padding, nothing
/// between, no bits behind the last byte.
Result<std::string> base64url_decode(std::string_view text);

}  // namespace fettle
