#pragma once
/// Contents of versions as bytes and back.

#include "base/seal.h"
#include "versions/version.h"

namespace fettle {

/// Secrets are sealed when there is a seal.
std::string encode(const Content& content, const Seal* seal = nullptr);
/// An error (`Blame::bug`) when the bytes are none that `encode` made. The digest is given along.
Result<ContentPointer> decode_content(std::string_view bytes, Digest digest,
                                      const Seal* seal = nullptr);

}  // namespace fettle
