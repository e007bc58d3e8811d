#pragma once
/// The methods of values by their type.

#include "template/jinja/renderer.h"

namespace fettle::jinja {

using Method = Result<Value> (*)(const Value& self, Arguments& arguments);
using MethodTable = std::unordered_map<std::string_view, Method>;

const MethodTable& text_methods();

/// `text.strip(chars)` and its like; without `chars`, white space.
Result<std::string_view> stripped(std::string_view text, const Value& chars, bool left, bool right);
/// `text.replace(from, to, most)`; all when `most` is negative.
Result<Value> replaced(std::string_view text, std::string_view from, std::string_view to,
                       int64_t most);

}  // namespace fettle::jinja
