#pragma once
/// Makes values. A value whose size depends on the program is refused if memory does not suffice:
/// then the result is `Value::error()`, and the next `Vm::look` (or the caller) reports it.

#include <span>

#include "starlark/heap/heap.h"

namespace fettle::starlark {

struct NamedValue;

Value make_int(Heap& heap, int64_t n);
/// The one form of a number with this sign and this magnitude of any size.
Value make_int(Heap& heap, bool negative, std::span<const uint64_t> limbs);
Value make_float(Heap& heap, double x);
Value make_text(Heap& heap, std::string_view text);
/// The same, with its hash known.
Value make_constant_text(Heap& heap, std::string_view text);
Value make_bytes(Heap& heap, std::string_view bytes);
/// A text of `size` bytes (over 7), which the caller fills through `inside()`.
String* make_blank_text(Heap& heap, size_t size, Kind kind = Kind::string);
List* make_list(Heap& heap, size_t capacity = 0);
Tuple* make_tuple(Heap& heap, size_t size);
Value make_tuple(Heap& heap, std::initializer_list<Value> items);
int64_t range_length(int64_t start, int64_t stop, int64_t step);
Range* make_range(Heap& heap, int64_t start, int64_t stop, int64_t step);
Value make_builtin(Heap& heap, const char* name, Native native, Value self = Value::unset());
Cell* make_cell(Heap& heap, Value value);
/// A function whose defaults are at `defaults`, and which captures variables of `registers` and of
/// `outer`, the function that makes it. Null: memory does not suffice.
Function* make_function(Heap& heap, const Code* code, const Value* defaults, const Value* registers,
                        Function* outer);
/// A structure with these names, which must be sorted, and values.
Value make_structure(Heap& heap, Kind kind, Value constructor, std::span<const Value> names,
                     std::span<const Value> values);

/// The same in any order.
Value make_fields(Heap& heap, Kind kind, Value constructor, std::span<const NamedValue> fields);

/// The digits must be valid for the radix.
Value parse_integer(Heap& heap, std::string_view digits, int radix, bool negative = false);

// The following functions may take long for large values. They also return false if nobody wants
// the evaluation any more; then the error is set already.

bool copy_values(Heap& heap, const Value* from, size_t count, Value* into);
/// Appends. False: memory does not suffice. Checks neither whether the list is frozen nor whether
/// it is iterated over.
bool list_push(Heap& heap, List* list, Value value);
bool list_reserve(Heap& heap, List* list, size_t capacity);

}  // namespace fettle::starlark
