#pragma once
/// What Kubernetes takes for keys and values of labels.

#include <string_view>

namespace fettle::workloads {

/// At most 63 letters, digits and `-`, `_`, `.`, with a letter or digit first and last; or nothing.
bool is_label_value(std::string_view text);
/// `NAME` or `PREFIX/NAME`: a name is as a value that is not empty, a prefix the name of a domain.
bool is_label_key(std::string_view key);

/// What each may be, for messages.
inline constexpr std::string_view label_value_words =
    "at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit first and last";

}  // namespace fettle::workloads
