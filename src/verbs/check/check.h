#pragma once
/// `fettle check`: all that can be known before anything is done. It needs no engine and asks none.

#include <string>
#include <vector>

#include "model/compile.h"
#include "verbs/packages/run_package.h"
#include "verbs/states/states.h"

namespace fettle {

/// The result: what was looked at, and the findings. Each finding has its place and line, if there
/// is one.
struct CheckResult {
  /// `package`, `module` (a `.star` file that others import), `model`, `states` or `workloads`.
  std::string kind;
  std::string path;           ///< as the user named it
  std::vector<Error> errors;  ///< a run, export or apply would be refused
  std::vector<Error> warnings;
};

/// Checks all files of the package, then what it would do with the arguments of the request.
CheckResult check_package(const Workplace& place, PackageRequest request);
/// Checks a project's folder or main file, read as a full export would read it; nothing is stored.
/// `options`: the limits of the compile.
CheckResult check_model(const std::string& path, model::CompileOptions options);
/// Checks files of states, read as `validate` reads them.
CheckResult check_states(const Workplace& place, StatesRequest request);
/// Checks one file of manifests.
CheckResult check_manifests(const std::string& path, std::string_view text);

}  // namespace fettle
