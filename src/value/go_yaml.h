#pragma once
/// Reads scalars like Go's yaml.v2 2.4.0, with what becomes of them on their way through JSON,
/// which is how arguments reach a package.

#include "base/result.h"
#include "value/value.h"

namespace fettle::go_yaml {

/// A scalar without quotes and tag. A number beyond 64 bits is a real, and one beyond those a text.
Value plain(std::string_view text);
/// A scalar with a tag such as `tag:yaml.org,2002:int`. Errors are worded as Go's.
Result<Value> tagged(std::string_view text, std::string_view tag);
/// A key as it stands in JSON: a real has the digits of 32 bits. Null, and an integer beyond 63
/// bits, are none.
Result<Name> key(const Value& scalar);
/// A value as it comes back from JSON: a real without a fraction is an integer, of those digits
/// that tell it from other reals. An infinity and NaN are errors.
Result<Value> from_json(const Value& scalar);

}  // namespace fettle::go_yaml
