#pragma once
/// The places of the files of a compile: its project, and the modules that it loaded.

#include "model/program/program.h"

namespace fettle::model {

/// The loaded module of that name. Null: there is none.
const Module* find_module(const Program& program, std::string_view name);
/// The name of the module to which this file belongs; `__config__` for `main.cf`.
std::string_view module_of(const Program& program, uint32_t file);

}  // namespace fettle::model
