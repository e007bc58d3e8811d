#pragma once
/// Versions as text and as JSON.

#include "verbs/models/versions.h"

namespace fettle {

std::string whole_text(const WholeVersion& whole);
std::string differences_text(const std::vector<ItemDifference>& found, bool colour);
/// The changes of each set. The resources of sets that are new as a whole are only counted.
std::string pushed_text(const PushResult& pushed, bool is_dry, bool colour);

}  // namespace fettle
