#pragma once
/// Gets, sets and deletes values at places in a value. A path is a list of keys: texts, numbers,
/// and dicts of `start` and `end` for a slice.

#include <span>

#include "jq/failure.h"
#include "jq/json.h"

namespace fettle::jq {

Answer index_value(const Json& value, const Json& key);
Answer slice_value(const Json& value, const Json& end, const Json& start);
Answer get_path(const Json& value, const Json& path);
/// The value is edited in place if nobody else holds it. If the call fails, it does not change.
std::optional<Failure> set_path(Json& value, const Json& path, const Json& to);
Answer delete_paths(Json value, const Json& paths);

}  // namespace fettle::jq
