#pragma once
/// The libraries that the program is made of, for `version`.

#include "value/value.h"

namespace fettle {

/// The commit that it was built from, `-dirty` when files differ from it; empty when nobody knows.
std::string built_from();
/// By name, the version of each library that is part of the program and says one.
Value library_versions();

}  // namespace fettle
