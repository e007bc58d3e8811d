#pragma once
/// Reads the files of a model into a program: the main file, and the files that are imported.

#include "model/program/program.h"

namespace fettle::model {

/// Reads `std`, the main file with its text, and all that is imported; `project` (may be null) says
/// where modules are. Returns syntax errors and missing modules, unordered.
std::vector<Failure> load(Program& program, const std::string& main_name, const std::string& text,
                          const Project* project,
                          const std::function<void(const Error& warning)>& warn);

}  // namespace fettle::model
