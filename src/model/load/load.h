#pragma once
/// Reads the files of a model into a program: the main file, and what the files import.

#include "model/program/program.h"

namespace fettle::model {

/// `std`, the main file with its text, and all that is imported; `project` (may be null) says
/// where modules are. Syntax errors and modules that are not found, unordered.
std::vector<Failure> load(Program& program, const std::string& main_name, const std::string& text,
                          const Project* project,
                          const std::function<void(const Error& warning)>& warn);

}  // namespace fettle::model
