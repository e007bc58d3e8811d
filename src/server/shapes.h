#pragma once
/// The shapes of documents, as docs/json.md has them, where a test compares them with what is
/// answered. In a second list, written by hand, each new member would be forgotten.

#include <string_view>

#include "value/value.h"

namespace fettle {

/// The JSON Schema of what a path answers by. Anything is allowed where nothing is known; members
/// may be missing, and others may come.
Value schema_of_path(std::string_view pattern);

/// A shape, such as `[{"name": string, "run": null or number}]`, as a JSON Schema. Error
/// (`Blame::bug`): it is none.
Result<Value> schema_of_shape(std::string_view shape);

/// The page, made by cmake/shapes.cmake.
std::string_view page_of_shapes();

}  // namespace fettle
