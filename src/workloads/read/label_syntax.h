#pragma once
/// The syntax of keys and values of labels, as Kubernetes checks it.

#include <string_view>

namespace fettle::workloads {

/// At most 63 letters, digits and `-`, `_`, `.`, with a letter or digit first and last; or nothing.
bool is_label_value(std::string_view text);
/// `NAME` or `PREFIX/NAME`: a name is as a value that is not empty, a prefix the name of a domain.
bool is_label_key(std::string_view key);

/// The rule for each, for messages.
inline constexpr std::string_view label_value_words =
    "at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit first and last";

}  // namespace fettle::workloads
