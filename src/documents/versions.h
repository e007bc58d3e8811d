#pragma once
/// Versions of models.

#include "verbs/models/versions.h"

namespace fettle {

std::string_view word_of(WholeItem::State state);
/// A field of attributes; null pointer when it is not there, which is not null.
const Value* field_of(const Value& attributes, const std::string& field);
Value version_value(const VersionHead& head);
Value whole_value(const WholeVersion& whole);
Value differences_value(const std::vector<ItemDifference>& found);
Value pushed_value(const Pushed& pushed, bool is_dry);

}  // namespace fettle
