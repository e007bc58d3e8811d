#pragma once
/// A service with a ready condition is followed by its own `wait`, which no script names. People
/// see it as a part of the service.

#include <optional>
#include <string>

#include "core/key.h"

namespace fettle {

inline constexpr std::string_view ready_condition_kind = "wait";

/// The name of the `wait`.
Name ready_condition_name(const Name& service);

/// `service/web (ready condition)`; none: the key names something else.
std::optional<std::string> shown_ready_condition(const Key& key);

}  // namespace fettle
