#pragma once
/// `+` and `*` of texts, bytes, lists and tuples.

#include "starlark/eval/ops.h"

namespace fettle::starlark {

Value concatenate(Vm& vm, std::string_view a, std::string_view b, Kind kind);
/// `a + b` for a long `a`. The result shares a buffer with it, to which `b` is appended if `a` was
/// the last text made in it. So a loop of `+=` is linear, and every text keeps its contents.
Value append_text(Vm& vm, Value a, std::string_view b);
Value join_lists(Vm& vm, const List* a, const List* b);
Value join_tuples(Vm& vm, const Tuple* a, const Tuple* b);

bool is_repeatable(Value v);
/// `what * count`, where `what` is repeatable and `count` an integer.
Value repeat(Vm& vm, Value what, Value count);

}  // namespace fettle::starlark
