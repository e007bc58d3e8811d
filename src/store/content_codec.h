#pragma once
/// Contents of versions as bytes and back.

#include "value/codec.h"
#include "versions/version.h"

namespace fettle {

/// Writes a content. Secrets are sealed if there is a seal.
std::string encode(const Content& content, const Seal* seal = nullptr);
/// Reads a content; its digest is given. An error (`Blame::bug`): `encode` did not make the bytes.
Result<ContentPointer> decode_content(std::string_view bytes, Digest digest,
                                      const Seal* seal = nullptr, SealedParts* parts = nullptr);

}  // namespace fettle
