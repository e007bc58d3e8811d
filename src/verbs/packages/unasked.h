#pragma once
/// Downloads for which nobody says what is at their address now, so that the stored content is
/// used.

#include <functional>
#include <string>
#include <vector>

#include "core/record.h"
#include "core/resource.h"
#include "core/step.h"

namespace fettle {

/// A warning for each download that `step` keeps, in the order of the intent.
std::vector<std::string> unasked_downloads(const Intent& intent, const Seen& seen,
                                           const std::function<const Step*(const Key& key)>& step);

}  // namespace fettle
