#pragma once
/// How an image may be called.

#include <string_view>

#include "base/result.h"

namespace fettle {

/// `[HOST[:PORT]/]PATH[:TAG][@DIGEST]` as engines take it. The error says the rule.
Status check_image_reference(std::string_view reference);

}  // namespace fettle
