#pragma once
/// Keys as people read them. In JSON, keys are not changed.

#include <string>

#include "core/record.h"

namespace fettle {

/// `service/web`; of what belongs to a node: `pod/default/web-1 on n1`, and without a node
/// `pod/default/web-1`; `service/web (ready condition)`; of a state, as requisites and references name it: `file:motd`, and of one
/// of several names `file:motd[/etc/motd]`.
std::string shown_key(const Key& key);

/// The same, with the path or name of a state if that differs: `file:motd (/etc/motd)`.
std::string shown_thing(const Key& key, const Record& record);

/// Whether words mean the key of a thing on a node: `default/web-1`, `web-1`, or one of these
/// behind its kind.
bool names_on_node(const Key& key, std::string_view words);

}  // namespace fettle
