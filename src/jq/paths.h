#pragma once
/// Getting, setting and deleting what is at a place in a value. A path is a list of keys: texts,
/// numbers, and dicts of `start` and `end` for a slice.

#include <span>

#include "jq/failure.h"
#include "jq/json.h"

namespace fettle::jq {

Answer index_value(const Json& value, const Json& key);
Answer slice_value(const Json& value, const Json& end, const Json& start);
Answer get_path(const Json& value, const Json& path);
/// The value is edited where nobody else holds it, and stays as it is when this fails.
std::optional<Failure> set_path(Json& value, const Json& path, const Json& to);
Answer delete_paths(Json value, const Json& paths);

}  // namespace fettle::jq
