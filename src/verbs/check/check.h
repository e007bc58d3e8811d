#pragma once
/// `fettle check`: what can be known before anything is done. Needs and asks no engine.

#include <string>
#include <vector>

#include "model/compile.h"
#include "verbs/packages/run_package.h"
#include "verbs/states/states.h"

namespace fettle {

/// What was looked at, and what was found. Each finding has its place and line if there is one.
struct Checked {
  /// `package`, `module` (a `.star` file that others import), `model`, `states` or `workloads`.
  std::string kind;
  std::string path;           ///< as it was named
  std::vector<Error> errors;  ///< a run, export or apply would be refused
  std::vector<Error> warnings;
};

/// All its files, then what it would do with the arguments of the request.
Checked check_package(const Workplace& place, PackageRequest request);
/// A project's folder or main file, as a full export would read it; nothing is stored.
/// `options`: the limits of the compile.
Checked check_model(const std::string& path, model::CompileOptions options);
/// Files of states, as `validate` reads them.
Checked check_states(const Workplace& place, StatesRequest request);
/// One file of manifests.
Checked check_manifests(const std::string& path, std::string_view text);

}  // namespace fettle
