#pragma once
/// Images, which belong to no environment.

#include "workplace/edit.h"

namespace fettle {

/// Lets the engine pull the images that it does not have.
Result<Summary> pull_images(const Workplace& place, const std::vector<std::string>& references);

}  // namespace fettle
