#pragma once
/// Go's predefined functions and its printing.

#include <span>

#include "base/result.h"
#include "value/value.h"

namespace fettle::go_template {

bool is_function(std::string_view name);
std::span<const std::string_view> function_names();

/// `and` and `or` are not here: they do not evaluate all their arguments.
Result<Value> call_function(std::string_view name, std::span<const Value> arguments);

/// Why a function cannot be called with so many arguments, in Go's words; empty when it can.
std::string wrong_count(std::string_view name, size_t count);

bool truth(const Value& value);
/// The name of the type that Go would have decoded the value to.
std::string_view go_type(const Value& value);
/// The form of `%v`.
std::string printed(const Value& value);
/// Sprintf: the verbs v s q d x X o b c U t e E f F g G T, with flags, width and precision. Errors
/// are written into the text, as in Go.
std::string format(std::string_view format, std::span<const Value> arguments);

}  // namespace fettle::go_template
