#pragma once
/// The file in which Podman keeps what a container wrote: an entry a line, `TIME STREAM F TEXT`, or
/// with `P` a part of a line that goes on in the next entry, or has no end yet.

#include <string>

namespace fettle {

/// Whether the last lines, and one before them, are an entry each. False, too, when that cannot be
/// seen: the file is on another machine, or has not the form.
bool is_in_whole_lines(const std::string& file, int lines);

}  // namespace fettle
