#pragma once
/// The Python that runs users' code: which interpreter, and the package of ours that it gets.
///
/// Inmanta and Idem run in the environment in which their users installed them. Here the program
/// stands alone, so it looks for that environment: the active one (`$VIRTUAL_ENV`), else `.env` of
/// the project, where Inmanta makes one, else the newest `python3` of this machine.

#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "value/value.h"

namespace fettle {

struct PythonEnvironment {
  std::string interpreter;
  /// Folders with installed packages that the interpreter does not look into by itself.
  std::vector<Path> packages{};
};

/// The environment for a project. Its interpreter is empty: this machine has none.
PythonEnvironment python_environment(const Path& project);

/// The folders with the packages of the active environment, then of `.env` of the project.
std::vector<Path> installed_packages(const Path& project);

/// The user's folder for what can be made again, where our package is unpacked. Empty: there is
/// none that can be written.
Path python_cache();

/// How to start the program that serves the Python of models (`python/fettle_models`), in the folder
/// of the project. `package` is the folder of `unpack_python`, `settings` what the program is told.
Invocation serve_models(const PythonEnvironment& environment, const Path& package,
                        const Path& project, const Value& settings);

}  // namespace fettle
