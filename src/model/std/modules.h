#pragma once
/// Modules that ship with fettle and that a project has to import: `fs`, `exec` and `container`. A
/// module of the project of the same name wins.

#include "model/std/source.h"

namespace fettle::model {

std::span<const StdSource> shipped_modules();

}  // namespace fettle::model
