#pragma once
/// The functions of jq that are written in C++, by topic. Each takes the input and the values of
/// its arguments.

#include "jq/program.h"
#include "jq/text_form.h"

namespace fettle::jq {

using Arguments = std::span<const Json>;

std::span<const Native> operators();
std::span<const Native> plain_functions();
std::span<const Native> text_functions();
std::span<const Native> list_functions();
std::span<const Native> format_functions();
std::span<const Native> number_functions();
std::span<const Native> time_functions();
std::span<const Native> regex_functions();

/// A function got a value that it does not accept: `keys cannot be applied to: number (1)`.
inline tl::unexpected<Failure> not_for(std::string_view function, const Json& input) {
  return fail(function, " cannot be applied to: ", typed_preview(input));
}
inline tl::unexpected<Failure> not_for(std::string_view function, const Json& input,
                                       const Json& argument) {
  return not_for(cat(function, "(", preview(argument), ")"), input);
}

/// The sum of two values, by the rules of `+`.
Answer sum(const Json& a, const Json& b);
/// The values of a list or dict in their order. None: it is something else.
std::optional<Json::List> values_of(const Json& value);

}  // namespace fettle::jq
