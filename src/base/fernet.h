#pragma once
/// Fernet: AES-128-CBC with an HMAC-SHA256, as Python's `cryptography` makes and reads it. Tokens
/// and keys are base64 with `-` and `_`.

#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// The message of a token, however old it is. Errors (`Blame::user`): the key is not valid, the
/// text is no token, or it was not made with this key.
Result<std::string> open_fernet(std::string_view token, std::string_view key);

/// Whether a text begins as every token does.
bool looks_like_fernet(std::string_view text);

}  // namespace fettle
