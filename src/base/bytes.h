#pragma once
/// Streams of bytes that may be too large for the memory: readers pull from a source, writers push
/// to a sink.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

/// Fills some of the span and answers how much; 0 means the end.
using ByteSource = std::function<Result<size_t>(std::span<char>)>;
/// Takes all of the bytes, or fails, which ends the transfer.
using ByteSink = std::function<Status(std::string_view)>;

/// The source that gives `bytes`, which it keeps.
ByteSource source_of(std::string bytes);
/// The sink that appends to `text`, which must outlive it; fails beyond `limit` bytes.
ByteSink sink_to(std::string& text, size_t limit);
/// Everything from `source` to `sink`.
Status pump(const ByteSource& source, const ByteSink& sink);
/// Everything that `source` gives, at most `limit` bytes.
Result<std::string> read_all(const ByteSource& source, size_t limit);

}  // namespace fettle
