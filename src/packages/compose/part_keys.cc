#include "packages/compose/part_keys.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::compose {
namespace {

struct PartKeys {
  std::string_view path;  ///< `*`: each entry of a list or of a mapping
  std::string_view keys;
};

constexpr PartKeys service_parts[] = {
    {"build",
     "additional_contexts args cache_from cache_to context dockerfile dockerfile_inline "
     "entitlements extra_hosts isolation labels network no_cache no_cache_filter platforms "
     "privileged provenance pull sbom secrets shm_size ssh tags target ulimits"},
    {"build.secrets.*", "gid mode source target uid"},
    {"configs.*", "gid mode source target uid"},
    {"depends_on.*", "condition required restart"},
    {"deploy",
     "endpoint_mode labels mode placement replicas resources restart_policy rollback_config "
     "update_config"},
    {"deploy.resources", "limits reservations"},
    {"deploy.resources.limits", "cpus memory pids"},
    {"deploy.resources.reservations", "cpus devices generic_resources memory"},
    {"deploy.resources.reservations.devices.*", "capabilities count device_ids driver options"},
    {"devices.*", "permissions source target"},
    {"env_file.*", "format path required"},
    {"healthcheck", "disable interval retries start_interval start_period test timeout"},
    {"logging", "driver options"},
    {"networks.*",
     "aliases driver_opts gw_priority interface_name ipv4_address ipv6_address link_local_ips "
     "mac_address priority use_service_name_alias"},
    {"ports.*", "app_protocol host_ip mode name protocol published target"},
    {"secrets.*", "gid mode source target uid"},
    {"ulimits.*", "hard soft"},
    {"volumes.*", "bind consistency image read_only source target tmpfs type volume"},
};

constexpr PartKeys project_parts[] = {
    {"configs.*", "content environment external file labels name template_driver"},
    {"networks.*",
     "attachable driver driver_opts enable_ipv4 enable_ipv6 external internal ipam labels name"},
    {"secrets.*",
     "content driver driver_opts environment external file labels name template_driver"},
    {"volumes.*", "driver driver_opts external labels name"},
};

Status check_part(const Node& node, std::string_view path, const PartKeys& part) {
  if (path.empty())
    return node.is_dict() ? check_keys(node, cat("`", replace_all(part.path, ".*", ""), "`"),
                                       split(part.keys, ' '))
                          : Status();
  const size_t dot = std::min(path.find('.'), path.size());
  const std::string_view step = path.substr(0, dot);
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  if (step == "*") {
    for (const Node& item : node.items)
      TRY(check_part(item, rest, part));
    return {};
  }
  const Node* const inner = node.is_dict() ? node.find(step) : nullptr;
  return inner == nullptr ? Status() : check_part(*inner, rest, part);
}

}  // namespace

Status check_keys(const Node& node, std::string_view of, std::span<const std::string_view> known) {
  for (const NodeKey& key : node.keys)
    if (!key.text.starts_with("x-") && std::ranges::find(known, key.text) == known.end())
      return user_error(
          cat("compose knows no `", printable(key.text), "` of ", of, suggestion(key.text, known)),
          node.where_of(key));
  return {};
}

Status check_service_parts(const Node& service) {
  for (const PartKeys& part : service_parts)
    TRY(check_part(service, part.path, part));
  return {};
}

Status check_project_parts(const Node& document) {
  for (const PartKeys& part : project_parts)
    TRY(check_part(document, part.path, part));
  return {};
}

}  // namespace fettle::compose
