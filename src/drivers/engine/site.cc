#include "drivers/engine/site.h"

#include "base/text.h"
#include "drivers/engine/marks.h"

namespace fettle {
namespace {

/// Things without the mark were made before it existed.
bool is_ours(const Site& site, const std::map<std::string, std::string>& labels) {
  const std::string home = label(labels, mark::home);
  return home.empty() || home == site.options.home;
}

template <class State>
Result<std::vector<State>> ours_among(const Site& site, Result<std::vector<State>> listed) {
  if (listed)
    std::erase_if(*listed, [&](const State& state) { return !is_ours(site, state.labels); });
  return listed;
}

}  // namespace

Labels own_marks(const Site& site, const Key& key) {
  Labels marks = marks_of(key);
  if (!site.options.home.empty())
    marks.emplace_back(mark::home, site.options.home);
  return marks;
}

std::optional<Key> own_key(const Site& site, const std::map<std::string, std::string>& labels) {
  return is_ours(site, labels) ? key_in(labels) : std::nullopt;
}

Error taken_error(std::string_view what, std::string_view name,
                  const std::map<std::string, std::string>& labels) {
  if (!key_in(labels))
    return world_error(cat("a ", what, " `", name, "` exists that fettle did not create"));
  return world_error(cat("the ", what, " `", name,
                         "` on this engine belongs to another home of fettle: use that "
                         "`$FETTLE_HOME`, or another name for the environment"));
}

Result<std::vector<ContainerState>> own_containers(const Site& site,
                                                   const std::vector<std::string>& labels,
                                                   std::stop_token stop) {
  return ours_among(site, list_containers(site.engine, labels, std::move(stop)));
}

Result<std::vector<NetworkState>> own_networks(const Site& site,
                                               const std::vector<std::string>& labels,
                                               std::stop_token stop) {
  return ours_among(site, list_networks(site.engine, labels, std::move(stop)));
}

Result<std::vector<VolumeState>> own_volumes(const Site& site,
                                             const std::vector<std::string>& labels,
                                             std::stop_token stop) {
  return ours_among(site, list_volumes(site.engine, labels, std::move(stop)));
}

Status make_own_volume(const Site& site, const std::string& name, const Key& key,
                       std::stop_token stop, bool in_memory) {
  // An engine answers with the volume that is there, whoever made it.
  for (const VolumeState& there :
       TRY(list_volumes(site.engine, {environment_filter(key.environment)}, stop)))
    if (there.name == name && !is_ours(site, there.labels))
      return taken_error("volume", name, there.labels);
  return create_volume(site.engine, name, own_marks(site, key), std::move(stop), in_memory);
}

Status remove_own_volume(const Site& site, const Key& key, std::stop_token stop) {
  for (const VolumeState& there : TRY(own_volumes(site, key_filters(key), stop)))
    if (there.name == volume_name(key))
      TRY(remove_volume(site.engine, there.name, stop));
  return {};
}

}  // namespace fettle
