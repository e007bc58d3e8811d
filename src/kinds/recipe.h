#pragma once
/// Recipes: what exec, request and wait do inside or against a service, and how a result is judged.
///
/// A recipe in attributes:
///   {"type": "exec", "command": [text], "extract": {key: jq expression over the output}}
///   {"type": "get" | "post", "port": id, "endpoint", "headers": {}, "body", "content_type",
///   "extract"}
/// and its result in outputs: {"code", "output" | "body", "extract": {key: value}}.

#include "base/result.h"
#include "kinds/schema.h"
#include "value/value.h"

namespace fettle {

/// The recipe with its defaults.
Result<Value> normalise_recipe(const Value& recipe);
/// Attributes of which `recipe` is one, all with their defaults.
Result<Value> normalise_with_recipe(const Schema& schema, const Value& attributes);

/// Kurtosis: ==, !=, <, <=, >, >=, IN, NOT_IN; both sides must have the same type. The error
/// (`Blame::world`) says both values.
Status check_assertion(const Value& value, std::string_view assertion, const Value& target);

/// Whether there is such an assertion; an error with the list of them otherwise.
Status check_assertion_name(std::string_view assertion);

/// The value of a field of a recipe's result: `code`, `output`, `body`, `extract.key`.
Result<Value> result_field(const Value& result, std::string_view field);

}  // namespace fettle
