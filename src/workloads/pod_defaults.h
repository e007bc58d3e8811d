#pragma once
/// Pods as the API server would store them are full of defaults. Here they are left out, and
/// amounts have one form, so that two templates that mean the same are the same.

#include "value/value.h"

namespace fettle::workloads {

/// Without what says nothing else than the default. `object` is a name of the table in
/// `pod_fields.cc`: `Template`, `Container[]`, …
Value without_defaults(const Value& value, std::string_view object);

/// `0.5` as `500m`, `1024Mi` as `1Gi`, as Kubernetes writes them; what it would round stays.
std::string canonical_quantity(std::string_view text);

/// Whether a word of the table is an object, not a basic type.
constexpr bool is_object(std::string_view type) { return type[0] >= 'A' && type[0] <= 'Z'; }

/// What the field `name` of an object is: the words of the table in `pod_fields.cc`; `any` of an
/// unknown one.
std::string_view pod_field_type(std::string_view object, std::string_view name);

}  // namespace fettle::workloads
