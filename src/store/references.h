#pragma once
/// The contents that a value refers to. Nobody has to name them: any text that looks like a digest
/// counts as one, so a content that somebody needs is never removed.

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
/// The digests in what a record says about the last success and about an attempt.
std::vector<std::string> digests_in(const Record& record);

}  // namespace fettle
