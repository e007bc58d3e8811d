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

/// Labels as an engine takes them, and as it reports them.
Value labels_value(const Labels& labels);
std::map<std::string, std::string> labels_in(const Value& dict);
/// The conditions for a list of things with all these labels.
std::string label_filters(const std::vector<std::string>& labels);

/// The three labels that everything has.
Labels marks_of(const Key& key);
/// `fettle.environment=NAME`, for filters. An empty name means every environment.
std::string environment_filter(std::string_view environment);
std::vector<std::string> key_filters(const Key& key);
/// The key that labels stand for. None: they are not ours.
std::optional<Key> key_in(const std::map<std::string, std::string>& labels);
/// The text of a label, or an empty one.
std::string label(const std::map<std::string, std::string>& labels, std::string_view name);

/// The name of the network of an environment. With a name `NODE|NAMESPACE`, that of a namespace on
/// a node.
std::string network_name(const Key& key);
/// The name of the volume of a persistent directory: the directory's name, as far as an engine
/// allows it, and a hash.
std::string volume_name(const Key& key);
/// `SERVICE--UUID`
std::string container_name(std::string_view service, std::string_view uuid);
/// The name of a container that is being replaced, until the new one is ready.
std::string old_name(std::string_view name);
/// 32 hexadecimal digits that follow from what the service is, so that a crash loses nothing.
std::string uuid_of(const Key& key, std::string_view network_id);

}  // namespace fettle
