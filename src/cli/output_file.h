#pragma once
/// Files that somebody names for what a command writes.

#include <functional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace fettle {

/// Whether the name stands for standard output.
inline bool is_standard_output(std::string_view path) { return path == "-"; }

/// Writes what `fill` hands over. A file is replaced as a whole and keeps its mode; a link is
/// followed; a device or a pipe is written to as it is. `-` is standard output.
Status write_output(const std::string& path, const std::function<Status(const ByteSink&)>& fill);
Status write_output(const std::string& path, std::string_view text);

}  // namespace fettle
