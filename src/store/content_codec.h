#pragma once
/// Contents of versions as bytes and back.

#include "versions/version.h"

namespace fettle {

std::string encode(const Content& content);
/// An error (`Blame::bug`) when the bytes are none that `encode` made. The digest is given along.
Result<ContentPointer> decode_content(std::string_view bytes, Digest digest);

}  // namespace fettle
