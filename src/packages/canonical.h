#pragma once
/// The canonical text of an instruction: `name(argument=value, …)` with the arguments that were
/// passed, in the declared order, dicts and structs sorted by key. Two instructions with one text
/// are the same instruction; scripts that read plans rely on it.

#include <span>

#include "starlark/starlark.h"

namespace fettle {

std::string canonical_text(starlark::Value value);
std::string canonical_text(std::string_view name, const starlark::Signature& signature,
                           std::span<const starlark::Value> arguments);

}  // namespace fettle
