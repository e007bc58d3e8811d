#pragma once
/// Images without an environment.

#include "verbs/workplace.h"

namespace fettle {

/// Has the engine pull an image that it does not have.
Status pull_image(const Workplace& place, const std::string& reference);

}  // namespace fettle
