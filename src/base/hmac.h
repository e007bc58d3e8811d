#pragma once
/// HMAC-SHA256 (RFC 2104): a proof that whoever made it has the key, and meant these bytes.

#include <string>
#include <string_view>

namespace fettle {

/// 64 hexadecimal digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);

}  // namespace fettle
