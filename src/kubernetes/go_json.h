#pragma once
/// JSON in the letters of Go's encoder.
///
/// A server keeps the data of a ControllerRevision byte by byte as they were sent, and controllers
/// compare these bytes with what Go would write: `<`, `>` and `&` are escaped there, and some others
/// are not. A revision with the same contents in other letters counts as another one, and all pods
/// are updated. So bodies of writes are written like that.

#include <string>

#include "value/value.h"

namespace fettle::kubernetes {

/// On one line; secrets are shown.
std::string write_go_json(const Value& value);

}  // namespace fettle::kubernetes
