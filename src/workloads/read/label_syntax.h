#pragma once
/// The syntax of keys and values of labels, as Kubernetes checks it.

#include <string_view>

namespace fettle::workloads {

/// Whether the text is a valid value: at most 63 letters, digits and `-`, `_`, `.`, with a letter
/// or digit first and last. It may be empty.
bool is_label_value(std::string_view text);
/// `NAME` or `PREFIX/NAME`: a name is like a value that is not empty, and a prefix is a domain
/// name.
bool is_label_key(std::string_view key);

/// The rules in words, for messages.
inline constexpr std::string_view label_value_words =
    "at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit first and last";

}  // namespace fettle::workloads
