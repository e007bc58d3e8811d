#pragma once
/// The contents that a value refers to. They need no declaration: any string that looks like a
/// digest counts as one, so a needed content is never removed.

#include <string>
#include <string_view>
#include <vector>

#include "core/record.h"

namespace fettle {

/// Whether a string is 64 hexadecimal digits.
bool is_digest(std::string_view text);

/// The strings in `value` that are 64 hexadecimal digits, each once, sorted. Linear in the parts of
/// the value, shared ones counted once.
std::vector<std::string> digests_in(const Value& value);
/// The digests in a record's last success and in its attempt.
std::vector<std::string> digests_in(const Record& record);

}  // namespace fettle
