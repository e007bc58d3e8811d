#pragma once
/// What the patch types of Kubernetes do to an object.

#include <string_view>

#include "base/result.h"
#include "value/value.h"

namespace fettle::kubernetes {

Value without(const Value& dict, std::string_view key);
/// The dict with this value at `path`; dicts on the way are made.
Value with_path(const Value& dict, std::initializer_list<std::string_view> path, Value value);
const Value& at_path(const Value& value, std::initializer_list<std::string_view> path);

/// RFC 6902. An error tells which operation failed.
Result<Value> json_patch(const Value& object, const Value& operations);
/// RFC 7386.
Value merge_patch(const Value& object, const Value& change);
/// As merge_patch, but items of lists that have a merge key are merged by it, with `$patch: delete`,
/// and get the order of the patch, and finalizers are joined;
/// `$deleteFromPrimitiveList/finalizers` names those that go.
Value strategic_patch(const Value& object, const Value& change);
/// The member by which items of the list at this key are the same; empty: the list is a whole.
std::string_view merge_key_of(std::string_view list, const Value& items);

}  // namespace fettle::kubernetes
