#pragma once
/// The allowed forms of image references.

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace fettle {

/// `[HOST[:PORT]/]PATH[:TAG][@DIGEST]` as engines take it. The error states the rule.
Status check_image_reference(std::string_view reference);

/// In full, as all engines understand it: `redis` is `docker.io/library/redis:latest`.
std::string full_reference(std::string_view reference);
/// `docker.io/library/redis` and `7`, or the digest.
std::pair<std::string, std::string> split_reference(std::string_view reference);

}  // namespace fettle
