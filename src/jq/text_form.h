#pragma once
/// JSON text to and from jq's values, as gojq writes and Go's encoding/json reads it.

#include <string>
#include <string_view>

#include "jq/failure.h"
#include "jq/json.h"

namespace fettle::jq {

/// On one line, keys sorted. NaN is `null`, infinite numbers are the largest real ones.
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
/// One document. The message is that of Go's decoder, of numerals that of its decoder of streams,
/// for which what follows a document is no error with a message.
tl::expected<Json, std::string> read(std::string_view text, Numbers numbers);

}  // namespace fettle::jq
