#pragma once
/// MessagePack to `Value`, as far as plain data goes: bytes are read as text, keys become texts
/// (those that are lists or dicts are an error), and an extension type is an error.

#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// Errors (`Blame::user`): it is cut off, nested too deep, or followed by more.
Result<Value> read_msgpack(std::string_view bytes);

}  // namespace fettle
