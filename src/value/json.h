#pragma once
/// JSON text to and from `Value`. Numbers are exact: integers of any size, floats by their shortest
/// text. Broken UTF-8, nesting beyond `deepest_json` and anything after the document are errors
/// with line and column.

#include <string>
#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

constexpr uint32_t deepest_json = 1'000;

enum class Duplicates { error, last_wins };

/// `file` names the source in errors.
Result<Value> read_json(std::string_view text, std::string_view file = {},
                        Duplicates duplicates = Duplicates::error);

/// The value of the digits of a JSON number.
Value json_number(std::string_view text);

struct JsonStyle {
  int indent = 0;             ///< 0: one line without spaces; else that many spaces a level
  bool show_secrets = false;  ///< else a secret is written as "********"
};

std::string write_json(const Value& value, JsonStyle style = {});
/// Appends the same on one line.
void append_json(std::string& json, const Value& value);

/// `text` as a JSON string with quotes; bytes that are no UTF-8 become U+FFFD.
void append_json_text(std::string& json, std::string_view text);
/// The shortest text that reads back as the same number, always with `.` or `e`; infinities and NaN
/// as `null`, for JSON has none.
void append_json_real(std::string& json, double number);

}  // namespace fettle
