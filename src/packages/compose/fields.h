#pragma once
/// Reads numbers, sizes and durations as compose writes them. Each may come from a variable, so a
/// string counts as the value that it spells. Errors name the key.

#include "packages/compose/node.h"

namespace fettle::compose {

/// A member of a mapping, if it is there and not null; otherwise null.
const Node* given(const Node& dict, std::string_view key);

Result<std::string> text_of(const Node& node, std::string_view key);
Result<bool> truth_of(const Node& node, std::string_view key);
Result<int64_t> integer_of(const Node& node, std::string_view key);
/// `0.5` is 500.
Result<int64_t> thousandths_of(const Node& node, std::string_view key);
/// `64m`, `1.5gb`, `1024`; a kilobyte has 1024 bytes.
Result<int64_t> bytes_of(const Node& node, std::string_view key);
/// `1m30s`, `500ms`.
Result<int64_t> milliseconds_of(const Node& node, std::string_view key);
Result<std::vector<std::string>> texts_of(const Node& node, std::string_view key);

}  // namespace fettle::compose
