#pragma once
/// Where the files of a compile are: its project, and the modules that it loaded.

#include "model/program/program.h"

namespace fettle::model {

/// The module that is loaded under that name; null when none is.
const Module* find_module(const Program& program, std::string_view name);
/// The name of the module whose file this is; `__config__` for `main.cf`.
std::string_view module_of(const Program& program, uint32_t file);

}  // namespace fettle::model
