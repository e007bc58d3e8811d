#pragma once
/// Fields of objects in `get`, as in kubectl: which ones are meant, and in which order.

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// `metadata.name=web,status.phase!=Running`. Errors (`Blame::user`): a field by which objects of
/// this kind cannot be selected, or no selector.
using FieldFilter = std::function<bool(const Value& document)>;
Result<FieldFilter> field_filter(std::string_view text, std::string_view kind);

/// The keys of `.metadata.name`, also in braces. Error (`Blame::user`): anything else of JSONPath.
Result<std::vector<std::string>> field_path(std::string_view text);
/// Whether a field comes before another: nothing first, numbers by their size, texts with the
/// numbers in them by theirs.
bool comes_before(const Value& a, const Value& b);
/// The field at a path; null when it is not there.
Value field_at(const Value& document, const std::vector<std::string>& path);

/// `a=b,c=d`, or `<none>`.
std::string labels_text(const Value& labels);

}  // namespace fettle
