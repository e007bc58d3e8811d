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

/// What a value costs: its parts, each as often as it occurs, and the bytes of its texts; more than
/// `limit` is told as `limit + 1`. Errors: nested deeper than 1,000, or within itself; a limit of
/// the thread is reached.
Result<uint64_t> weight_of(starlark::Thread& thread, starlark::Value value, uint64_t limit);

}  // namespace fettle
