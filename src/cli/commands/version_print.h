#pragma once
/// How versions look, as text and as JSON.

#include "verbs/models/versions.h"

namespace fettle {

Value version_value(const VersionHead& head);
Value whole_value(const WholeVersion& whole);
std::string whole_text(const WholeVersion& whole);
Value differences_value(const std::vector<ItemDifference>& found);
std::string differences_text(const std::vector<ItemDifference>& found, bool colour);
Value pushed_value(const Pushed& pushed, bool is_dry);
/// What became of each set; the resources of sets that are new as a whole are only counted.
std::string pushed_text(const Pushed& pushed, bool is_dry, bool colour);

}  // namespace fettle
