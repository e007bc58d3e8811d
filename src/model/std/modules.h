#pragma once
/// Modules that ship with fettle and that a project has to import: `fs`, `exec` and `container`. A
/// project's own module of the same name replaces one.

#include "model/std/source.h"

namespace fettle::model {

std::span<const StdSource> shipped_modules();

}  // namespace fettle::model
