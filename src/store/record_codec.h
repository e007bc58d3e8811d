#pragma once
/// Records as bytes and back.

#include "core/record.h"
#include "value/codec.h"

namespace fettle {

/// As `Writer` seals.
std::string encode(const Record& record, Sealing sealing = {});
/// An error (`Blame::bug`) when the bytes are none that `encode` made.
Result<Record> decode(std::string_view bytes, const Seal* seal = nullptr);

}  // namespace fettle
