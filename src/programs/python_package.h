#pragma once
/// The Python code that serves plugins. It is part of the program: the folder `python/` as it was
/// when the program was built.

#include <span>
#include <string_view>

#include "base/file.h"

namespace fettle {

struct PythonFile {
  std::string_view path;  ///< `fettle_plugins/hub.py`
  std::string_view text;
};

std::span<const PythonFile> python_package();

/// Writes the package into a folder below `home`, once for each version, and returns the folder.
/// Several processes may do so at once.
Result<Path> unpack_python(const Path& home);

}  // namespace fettle
