#pragma once
/// Handlers of resource types that a project declares: found beside the folder of the declaration
/// when a model is exported, and kept with the version, so that a version can be made true without
/// the project.
///
///   project/resources/boxes.star     resource(entity = "Box", …, handler = "box")
///   project/handlers/box.star        functions in Starlark, or
///   project/handlers/box             a program that speaks JSON lines

#include <span>
#include <utility>

#include "base/result.h"
#include "value/value.h"

namespace fettle::model {

/// The handlers by type: `{"name", "source": text}` or `{"name", "program": path}`, with
/// `"deadline"` if one was declared. `declared`: by type `{"name", "file": of the declaration}`, or
/// `{"name", "source", "interpreter"}`, which is complete: a handler in Python.
/// Errors (`Blame::user`): there is no such handler, it lacks a function, or a program cannot be
/// run.
Result<Value> find_handlers(std::span<const std::pair<fettle::Name, Value>> declared);

}  // namespace fettle::model
