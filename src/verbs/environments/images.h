#pragma once
/// Images, which belong to no environment.

#include "workplace/edit.h"

namespace fettle {

/// Lets the engine pull the images of an intent that it does not have, with the logins that are given
/// there.
Result<Summary> pull_images(const Workplace& place, const Intent& wanted);

}  // namespace fettle
