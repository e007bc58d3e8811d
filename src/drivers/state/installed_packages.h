#pragma once
/// Packages with plugins of Idem that pip has installed. Whoever has none must not wait for a
/// Python that looks for them, so the folders in which the interpreter would look are read here:
/// a package is a folder with a file `conf.py` that has a `DYNE`.
///
/// What is found only decides whether Python starts; Python itself reads them
/// (`python/fettle_plugins/packages.py`).

#include <string>

namespace fettle {

/// Whether there may be such packages for an interpreter, a name or a path. Those of Idem's own
/// authors do not count, for what they have is here.
bool has_installed_packages(const std::string& interpreter);

/// The interpreter of the active virtual environment, else `python3`.
std::string python_of_environment();

}  // namespace fettle
