#pragma once
/// The parts of the library, one function a part: methods of types, and modules of functions.

#include <span>

#include "starlark/code/methods.h"
#include "starlark/eval/ops.h"

namespace fettle::starlark {

std::span<const MethodEntry> string_methods();
std::span<const MethodEntry> bytes_methods();
std::span<const MethodEntry> list_methods();
std::span<const MethodEntry> dict_methods();
std::span<const MethodEntry> set_methods();
std::span<const MethodEntry> regex_methods();
std::span<const MethodEntry> time_methods();
std::span<const MethodEntry> duration_methods();

/// The functions of the universe, for every profile.
std::span<const MethodEntry> core_functions();

/// Library modules: `json`, `math`, `time`, `re`, `hash`, `base64`; values of the heap.
Value make_json_module(Heap& heap);
Value make_math_module(Heap& heap);
Value make_time_module(Heap& heap);
Value make_re_module(Heap& heap);
Value make_hash_module(Heap& heap);
Value make_base64_module(Heap& heap);
Value make_yaml_module(Heap& heap);
/// The functions `struct` and `module`.
Value make_struct_function(Heap& heap);
Value make_module_function(Heap& heap);

/// A module of functions and other values, in any order.
Value make_library(Heap& heap, std::string_view name, std::span<const MethodEntry> functions,
                   std::span<const NamedValue> values = {});

/// Turns JSON text into values; dicts keep the order of the text. False: there is an error, with
/// its position.
bool decode_json(Vm& vm, std::string_view text, Value& result, std::string& problem);
/// False: there is an error.
bool encode_json(Vm& vm, std::string& out, Value value, std::string& problem);

/// JSON text with each item on its own line. False: there is an error.
bool indent_json(Vm& vm, std::string_view text, std::string_view prefix, std::string_view indent,
                 std::string& out, std::string& problem);

/// Sorts stably, for `sorted`. False: there was an error.
bool sort_values(Vm& vm, std::vector<std::pair<Value, Value>>& keyed, bool reverse);

}  // namespace fettle::starlark
