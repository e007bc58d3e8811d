#pragma once
/// Pods as the API server would store them are full of defaults. This file leaves them out and
/// gives amounts one form, so that two templates that mean the same are equal.

#include "value/value.h"

namespace fettle::workloads {

/// The value without fields that have their default. `object` is a name of the table in
/// `pod_fields.cc`: `Template`, `Container[]`, …
Value without_defaults(const Value& value, std::string_view object);

/// `0.5` as `500m`, `1024Mi` as `1Gi`, as Kubernetes writes them. An amount that it would round is
/// not changed.
std::string canonical_quantity(std::string_view text);

/// Whether a word of the table is an object, not a basic type.
constexpr bool is_object(std::string_view type) { return type[0] >= 'A' && type[0] <= 'Z'; }

/// The type of the field `name` of an object, in the words of the table in `pod_fields.cc`. `any`:
/// the field is not known.
std::string_view pod_field_type(std::string_view object, std::string_view name);

}  // namespace fettle::workloads
