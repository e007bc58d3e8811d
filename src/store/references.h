#pragma once
/// The contents that a value refers to. Nobody has to name them: whatever reads like a digest
/// counts as one, so no content that somebody needs is ever removed.

#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"

namespace fettle {

/// Whether a text is 64 hexadecimal digits.
bool is_digest(std::string_view text);

/// The texts in `value` that are 64 hexadecimal digits, each once, sorted. Linear in the parts of
/// the value, shared ones counted once.
std::vector<std::string> digests_in(const Value& value);
/// Those in what a record says of the last success and of an attempt.
std::vector<std::string> digests_in(const Record& record);

}  // namespace fettle
