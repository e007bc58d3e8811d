#pragma once
/// Text as Starlark's `str` writes it, which is what packages put into texts.

#include <string>

#include "value/value.h"

namespace fettle {

/// A text is itself, what is inside a list or dict is in quotes: `["a", True, None, 1.5]`. Secrets
/// are masked.
std::string starlark_text(const Value& value);
/// The same, with a text in quotes.
std::string starlark_repr(const Value& value);

}  // namespace fettle
