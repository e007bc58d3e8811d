#pragma once
/// Python's text forms of data, keys for indexes, and constants that need no evaluation.

#include <string>

#include "model/program/program.h"

namespace fettle::model {

/// `str(value)`: a text as it is.
std::string text_of(const Program& program, const Datum& value);
/// A value as errors show it: a text unchanged, `null` for null.
std::string shown(const Program& program, const Datum& value);
/// The name of a value's type in errors of the evaluation: null is a `NoneValue`.
std::string_view raw_type(const Datum& value);
/// `repr(value)`: a text in quotes.
std::string quoted(const Program& program, const Datum& value);
/// Inside a string: floats that are whole print as integers, null as `null`.
std::string interpolated(const Program& program, const Datum& value);
/// Whether the value has an integer with more digits than Python turns into text.
bool is_too_long(const Datum& value);
constexpr std::string_view too_long_text =
    "Exceeds the limit (4300 digits) for integer string conversion; use "
    "sys.set_int_max_str_digits() to increase the limit";
/// `type(value).__name__`.
std::string_view python_type(const Datum& value);
/// A value of a type was expected, and a reference was given.
std::string no_reference_text(std::string_view type);
/// The namespace of a name is not imported.
std::string no_space_text(const Name& name);
/// Appends a text that two values share exactly if they are equal.
void append_key(std::string& key, const Datum& value);
/// The value of a literal. False: it must be evaluated, because of `wrong`.
bool fold_constant(Program& program, const Expr* expr, Datum& value, const Expr*& wrong);
/// A condition of a typedef, as its source would have it.
std::string constraint_text(const Program& program, const Expr* expr);
/// Appends the value in the form of Python's format mini-language. False: `error` says why not.
bool format_with(const Program& program, const Datum& value, std::string_view spec,
                 std::string& made, std::string& error);
/// `==` of the language: numbers by value, instances by identity, lists and dicts structurally.
bool is_equal(const Datum& a, const Datum& b);

}  // namespace fettle::model
