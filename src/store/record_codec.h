#pragma once
/// Records as bytes and back.

#include "base/seal.h"
#include "core/record.h"

namespace fettle {

/// Secrets are sealed when there is a seal.
std::string encode(const Record& record, const Seal* seal = nullptr);
/// An error (`Blame::bug`) when the bytes are none that `encode` made.
Result<Record> decode(std::string_view bytes, const Seal* seal = nullptr);

}  // namespace fettle
