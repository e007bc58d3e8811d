#pragma once
/// The file in which Podman keeps the output of a container: one entry a line, `TIME STREAM F
/// TEXT`. With `P`, the entry is part of a line that goes on in the next entry or has no end yet.

#include <string>

namespace fettle {

/// Whether each of the last lines, and one before them, is one entry. Also false if that cannot be
/// seen: the file is on another machine, or does not have the form.
bool is_in_whole_lines(const std::string& file, int lines);

}  // namespace fettle
