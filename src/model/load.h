#pragma once
/// Reads the files of a model into a program: the main file, and what the files import.

#include "model/compile.h"
#include "model/program.h"

namespace fettle::model {

/// `std`, the main file with its text, and all that is imported; `project` (may be null) says
/// where modules are. Syntax errors and modules that are not found, unordered.
std::vector<Failure> load(Program& program, const std::string& main_name, const std::string& text,
                          const Project* project, const CompileOptions& options);

}  // namespace fettle::model
