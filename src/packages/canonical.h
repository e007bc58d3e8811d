#pragma once
/// The canonical text of an instruction: `name(argument=value, …)` with the arguments that were
/// passed, in the declared order, dicts and structs sorted by key. Two instructions with one text
/// are the same instruction; scripts that read plans rely on it.

#include <span>

#include "starlark/starlark.h"

namespace fettle {

Result<std::string> canonical_text(starlark::Thread& thread, starlark::Value value);
Result<std::string> canonical_text(starlark::Thread& thread, std::string_view name,
                                   const starlark::Signature& signature,
                                   std::span<const starlark::Value> arguments);

/// The cost of a value: its parts, each as often as it occurs, and the bytes of its texts. More
/// than `limit` gives `limit + 1`. Errors: it is nested deeper than 1,000, or within itself, or a
/// limit of the thread is reached.
Result<uint64_t> weight_of(starlark::Thread& thread, starlark::Value value, uint64_t limit);

}  // namespace fettle
