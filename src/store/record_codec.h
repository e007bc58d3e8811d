#pragma once
/// Records as bytes and back.

#include "core/record.h"
#include "value/codec.h"

namespace fettle {

/// Writes a record; `sealing` as in `Writer`.
std::string encode(const Record& record, SealPolicy sealing = {});
/// Reads a record. An error (`Blame::bug`): `encode` did not make the bytes.
Result<Record> decode(std::string_view bytes, const Seal* seal = nullptr,
                      SealedParts* parts = nullptr);

}  // namespace fettle
