#pragma once
/// Keys as people read them. In JSON they stand as they are.

#include <string>

#include "core/key.h"

namespace fettle {

/// `service/web`; of what belongs to a node: `pod/default/web-1 on n1`, and without a node
/// `pod/default/web-1`.
std::string shown_key(const Key& key);

/// Whether words mean a key of what belongs to a node: `default/web-1`, `web-1`, or the same behind
/// its kind.
bool names_on_node(const Key& key, std::string_view words);

}  // namespace fettle
