#pragma once
/// The libraries in the program, for `version`.

#include "value/value.h"

namespace fettle {

/// The commit that the program was built from, with `-dirty` if files differ from it. Empty: nobody
/// knows.
std::string built_from();
/// The version of each library in the program that has one, by name.
Value library_versions();

}  // namespace fettle
