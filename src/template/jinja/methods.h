#pragma once
/// The methods of values by their type.

#include "template/jinja/renderer.h"

namespace fettle::jinja {

using Method = Result<Value> (*)(const Value& self, Arguments& arguments);
using MethodTable = std::unordered_map<std::string_view, Method>;

const MethodTable& text_methods();

}  // namespace fettle::jinja
