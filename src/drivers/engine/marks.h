#pragma once
/// The labels by which fettle knows its own containers, networks and volumes when the store is
/// gone, and the names that it gives them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/key.h"
#include "value/value.h"

namespace fettle {

namespace mark {
constexpr std::string_view environment = "fettle.environment", kind = "fettle.kind",
                           key = "fettle.key", uuid = "fettle.uuid",
                           incarnation = "fettle.incarnation", digest = "fettle.digest",
                           address = "fettle.address", ports = "fettle.ports",
                           network = "fettle.network", holder = "fettle.holder",
                           container = "fettle.container", restarts = "fettle.restarts",
                           home = "fettle.home";
}  // namespace mark

using Labels = std::vector<std::pair<std::string, std::string>>;

/// As an engine takes them, and as it tells them.
Value labels_value(const Labels& labels);
std::map<std::string, std::string> labels_in(const Value& dict);
/// The conditions of a list of what has all these labels.
std::string label_filters(const std::vector<std::string>& labels);

/// The three that everything carries.
Labels marks_of(const Key& key);
/// `fettle.environment=NAME`, for filters; of every environment when the name is empty.
std::string environment_filter(std::string_view environment);
std::vector<std::string> key_filters(const Key& key);
/// The key that labels tell; none when they are not ours.
std::optional<Key> key_in(const std::map<std::string, std::string>& labels);
/// A label's text, or empty.
std::string label(const std::map<std::string, std::string>& labels, std::string_view name);

/// Of the network of an environment; with a name `NODE|NAMESPACE`, of a namespace on a node.
std::string network_name(const Key& key);
/// Of the volume of a persistent directory: its name where an engine allows it, and a hash.
std::string volume_name(const Key& key);
/// `SERVICE--UUID`
std::string container_name(std::string_view service, std::string_view uuid);
/// The name of the container that a new one replaces, until that is ready.
std::string old_name(std::string_view name);
/// 32 hexadecimal digits that follow from what the service is, so that a crash loses nothing.
std::string uuid_of(const Key& key, std::string_view network_id);

}  // namespace fettle
