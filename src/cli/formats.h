#pragma once
/// The forms in which commands answer: `--output FORM`.
///
/// To add one: a row in `formats.cc`, and its name among the `outputs` of the commands that have it.
/// Commands of states have every form of which the row prints any document.

#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace fettle {

struct Format {
  enum class Kind : uint8_t {
    text,        ///< for people: each command prints what it has to say
    json,        ///< one document
    json_lines,  ///< what happens as it happens, of commands that tell lines; else as `json`
    document,    ///< one document, in another notation
  };
  std::string_view name;
  Kind kind;
  bool is_of_all;     ///< every command has it
  bool tells_errors;  ///< what failed is told as a document, too
  /// Prints any document; null: only commands that know the form can.
  void (*print)(const Value& document);
};

/// The one of this name; `text` when there is none.
const Format& format_of(std::string_view name);

/// Those that every command has.
std::vector<std::string> common_formats();

/// The others in which any document can be printed.
std::vector<std::string> document_formats();

}  // namespace fettle
