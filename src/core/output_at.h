#pragma once
/// What holes read of what an act left.

#include <string_view>

#include "core/record.h"

namespace fettle {

/// Null: there is no such output. Behind `@` stands the path of what people are shown of a thing:
/// of what it was made with, else of its outputs.
const Value* output_at(const Record& record, std::string_view path);

/// The same of what a thing is to be made with; `path` begins with `@`.
const Value* shown_at(const Value& attributes, std::string_view path);

}  // namespace fettle
