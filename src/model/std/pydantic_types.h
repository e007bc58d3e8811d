#pragma once
/// Types of pydantic, `datetime` and `uuid` that need more than a text's form: sizes, durations,
/// Base64, URLs of one scheme, paths.

#include <string_view>

#include "model/values/datum.h"

namespace fettle::model {

/// What is known of a name: whether a value is of it, that it is no type of values, or nothing.
enum class Verdict : uint8_t { fits, differs, is_no_type, is_unknown };

/// `type`: `pydantic.ByteSize`.
Verdict check_pydantic(std::string_view type, const Datum& value);

}  // namespace fettle::model
