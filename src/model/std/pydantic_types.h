#pragma once
/// Types of pydantic, `datetime` and `uuid` that need more than the form of a text: sizes,
/// durations, Base64, URLs of one scheme, paths.

#include <string_view>

#include "model/values/datum.h"

namespace fettle::model {

/// The verdict about a name: the value fits it, it does not, it is no type of values, or it is
/// unknown.
enum class Verdict : uint8_t { fits, differs, is_no_type, is_unknown };

/// `type`: `pydantic.ByteSize`.
Verdict check_pydantic(std::string_view type, const Datum& value);

}  // namespace fettle::model
