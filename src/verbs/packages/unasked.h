#pragma once
/// Downloads of which nobody tells what is at their address now, so that what is stored is used.

#include <functional>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/resource.h"
#include "core/step.h"

namespace fettle {

/// A warning for each that `step` keeps, in the order of the intent.
std::vector<std::string> unasked_downloads(const Intent& intent, const Seen& seen,
                                           const std::function<const Step*(const Key& key)>& step);

}  // namespace fettle
