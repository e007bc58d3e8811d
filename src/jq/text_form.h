#pragma once
/// Converts JSON text to and from jq's values, written as gojq does and read as Go's encoding/json
/// does.

#include <string>
#include <string_view>

#include "jq/failure.h"
#include "jq/json.h"

namespace fettle::jq {

/// JSON on one line, with sorted keys. NaN is `null`, and infinite numbers are the largest real
/// ones.
std::string text_form(const Json& value);
/// The same, at most 30 bytes of it, for messages.
std::string preview(const Json& value);
/// `number (1)`; `null`.
std::string typed_preview(const Json& value);
/// A text as a JSON string.
void append_quoted(std::string& json, std::string_view text);

enum class Numbers {
  real,     ///< each a real; one that no real is near is an error
  numeral,  ///< each as it is written
};
/// Reads one document. Messages are those of Go's decoder; for numerals, those of its decoder of
/// streams, which has no message about what follows a document.
tl::expected<Json, std::string> read(std::string_view text, Numbers numbers);

}  // namespace fettle::jq
