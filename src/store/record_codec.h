#pragma once
/// Records as bytes and back.

#include "core/record.h"

namespace fettle {

std::string encode(const Record& record);
/// An error (`Blame::bug`) when the bytes are none that `encode` made.
Result<Record> decode(std::string_view bytes);

}  // namespace fettle
