#pragma once
/// Resource types that a module declares in Python, which does not run: the exporter of such a
/// project gets an error instead of a version that lacks them.

#include <map>
#include <string>

#include "base/file.h"
#include "model/program/program.h"

namespace fettle::model {

/// The files that declare entities with `@resource("…")`, by entity.
std::map<std::string, Path, std::less<>> python_resources(const Program& program);

}  // namespace fettle::model
