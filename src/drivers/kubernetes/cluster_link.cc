#include "drivers/kubernetes/cluster_link.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/types.h"
#include "kubernetes/discovery.h"

namespace fettle {
namespace {

/// Values of JSON that may come again.
constexpr size_t places_for_pods = 1 << 15, places_for_others = 1 << 12;

bool is_for_pulls(const kubernetes::ResourceType& type) {
  return std::ranges::find(cluster::types::for_pulls, type) != cluster::types::for_pulls.end();
}

/// Revisions of SidecarSets stand in one namespace and their pods in all, and nodes are told of
/// images for all namespaces, so these are followed only with all of them.
std::vector<kubernetes::ResourceType> followed_types(const ClusterSettings& settings) {
  const bool is_everywhere = settings.space.empty();
  const bool can_pull = is_everywhere && settings.gates.daemon;
  std::vector<kubernetes::ResourceType> types;
  for (const kubernetes::ResourceType& type : cluster::types::workloads)
    if (is_for_pulls(type) ? can_pull : type.is_namespaced || is_everywhere)
      types.push_back(type);
  if (is_everywhere)
    types.push_back(cluster::types::spaces);
  if (can_pull)
    types.push_back(cluster::types::node_images);
  types.insert(types.end(), {cluster::types::nodes, cluster::types::revisions,
                             cluster::types::claims, cluster::types::pods});
  return types;
}

/// Until it is known which of them are served.
std::vector<kubernetes::ResourceType> possible_types(const ClusterSettings& settings) {
  std::vector<kubernetes::ResourceType> types = followed_types(settings);
  if (settings.space.empty())
    types.insert(types.end(), {cluster::types::policies, cluster::types::policy_bindings});
  return types;
}

/// Of the objects of a type, of which less than all is kept, only that is read. A list and a watch
/// follow each other, so they have one reader.
kubernetes::ReflectorSettings reflector_settings(const kubernetes::ResourceType& type,
                                                 std::string space) {
  kubernetes::ReflectorSettings settings{.type = type, .space = std::move(space)};
  if (!cluster::KeptParts::are_less(type.kind))
    return settings;
  std::vector<SharedJson::Path> left_out;
  for (const SharedJson::Path& path : cluster::KeptParts::left_out(type.kind))
    for (SharedJson::Path outer : {SharedJson::Path{"object"}, SharedJson::Path{"items", "*"}})
      left_out.emplace_back(outer).insert(left_out.back().end(), path.begin(), path.end());
  const auto reader = std::make_shared<SharedJson>(
      std::move(left_out), type == cluster::types::pods ? places_for_pods : places_for_others);
  settings.read = [reader](std::string_view json) { return reader->read(json); };
  return settings;
}

}  // namespace

ClusterLink::ClusterLink(std::unique_ptr<kubernetes::Transport> transport, ClusterSettings settings,
                         std::function<Time()> clock, uint64_t seed)
    : settings_(std::move(settings)),
      seed_(seed),
      client_(std::move(transport), with_permit(settings_.client)),
      types_(followed_types(settings_)),
      objects_(possible_types(settings_)),
      copies_(settings_.copies_secrets),
      driver_(client_, objects_, owners_, settings_.gates, std::move(clock), &copies_) {
  for (const kubernetes::ResourceType& type : types_)
    if (cluster::KeptParts::are_less(type.kind))
      objects_.keep_part(type.kind, [this, kind = type.kind](const Value& object) {
        return kept_.of(kind, object);
      });
  if (settings_.lease)
    candidate_ = std::make_unique<kubernetes::Candidate>(client_, *settings_.lease, seed_++);
}

/// All threads are told before one is waited for.
ClusterLink::~ClusterLink() {
  for (Thread& thread : threads_)
    thread.request_stop();
  threads_.clear();
}

kubernetes::ClientSettings ClusterLink::with_permit(kubernetes::ClientSettings settings) {
  if (settings_.lease)
    settings.permit = [this] { return has_led_ ? std::nullopt : candidate_->may_write_until(); };
  return settings;
}

Status ClusterLink::check(const std::stop_token& stop) {
  const kubernetes::Discovery found = TRY(kubernetes::Discovery::ask(client_, stop));
  const auto is_served = [&](const kubernetes::ResourceType& type) {
    return found.find(type.group, type.version, type.plural) != nullptr;
  };
  if (!std::ranges::all_of(cluster::types::for_pulls, is_served)) {
    std::erase_if(types_, is_for_pulls);
    for (const kubernetes::ResourceType& type : cluster::types::for_pulls)
      objects_.leave_out(type.kind);
  }
  for (const kubernetes::ResourceType& type : types_)
    if (!is_served(type))
      return user_error(cat("the cluster does not serve `", type.plural, "` of `",
                            type.api_version(), "`; define them by `packaging/kubernetes/crds`"));
  return settings_.space.empty() ? find_policies(found, stop) : Status();
}

/// Who may not read them does without. They belong to no namespace.
Status ClusterLink::find_policies(const kubernetes::Discovery& found, const std::stop_token& stop) {
  for (const char* version : {"v1", "v1beta1"}) {
    std::vector<kubernetes::ResourceType> both{cluster::types::policies,
                                               cluster::types::policy_bindings};
    bool are_usable = true;
    for (kubernetes::ResourceType& type : both) {
      type.version = version;
      if (!are_usable || found.find(type.group, type.version, type.plural) == nullptr) {
        are_usable = false;
        continue;
      }
      const auto listed = client_.list(type, {}, {.limit = 1}, stop);
      are_usable = listed.has_value();
      if (!listed && listed.error().reason != kubernetes::ApiReason::not_found &&
          listed.error().reason != kubernetes::ApiReason::forbidden)
        return static_cast<const Error&>(listed.error());
    }
    if (are_usable) {
      policy_version_ = version;
      types_.insert(types_.end(), both.begin(), both.end());
      return {};
    }
  }
  return {};
}

Result<std::vector<std::string>> ClusterLink::unkept(const std::stop_token& stop) {
  std::vector<std::string> found;
  for (const char* plural : {"imagepulljobs", "imagelistpulljobs", "sidecarsets"}) {
    if (std::ranges::find(types_, plural, &kubernetes::ResourceType::plural) != types_.end())
      continue;
    const bool is_namespaced = plural != cluster::types::sidecar_sets.plural;
    const auto listed =
        client_.list({cluster::types::clone_sets.group, "v1beta1", plural, "", is_namespaced},
                     is_namespaced ? settings_.space : std::string(), {.limit = 1}, stop);
    // Who may not look at them does not have to know.
    if (!listed && listed.error().reason != kubernetes::ApiReason::not_found &&
        listed.error().reason != kubernetes::ApiReason::forbidden)
      return static_cast<const Error&>(listed.error());
    if (listed && !listed->items.empty())
      found.emplace_back(plural);
  }
  return found;
}

void ClusterLink::begin() {
  if (policy_version_.empty())
    for (const auto& type : {cluster::types::policies, cluster::types::policy_bindings})
      objects_.leave_out(type.kind);
  for (const kubernetes::ResourceType& type : types_) {
    kubernetes::Reflector& reflector = reflectors_.emplace_back(
        reflector_settings(type, type.is_namespaced ? settings_.space : std::string()),
        objects_.listener(type.kind), seed_++);
    threads_.emplace_back([this, &reflector](const std::stop_token& stop) {
      kubernetes::follow(client_, reflector, stop);
    });
  }
  if (candidate_ != nullptr)
    threads_.emplace_back([this](const std::stop_token& stop) {
      candidate_->run(
          [this, stop](bool is_leader) {
            lead(is_leader);
            if (!is_leader && !stop.stop_requested() && settings_.lease_lost)
              settings_.lease_lost();
          },
          stop);
    });
  has_begun_ = true;
}

bool ClusterLink::is_leader() const {
  if (candidate_ == nullptr)
    return has_begun_;
  const std::lock_guard lock(mutex_);
  return is_leader_;
}

std::string ClusterLink::unready_reason() const {
  if (!has_begun_)
    return "the cluster has not answered yet";
  if (const std::vector<std::string> kinds = objects_.unsynced(); !kinds.empty())
    return cat("not all objects are known yet of: ", join(kinds, ", "));
  return has_led_ ? "the lease is lost" : "";
}

void ClusterLink::lead(bool is_leader) {
  {
    const std::lock_guard lock(mutex_);
    has_led_ = has_led_ || (is_leader_ && !is_leader);
    is_leader_ = is_leader && !has_led_;
  }
  elected_.notify_all();
}

Status ClusterLink::await_lease(const std::stop_token& stop) {
  if (candidate_ == nullptr)
    return {};
  std::unique_lock lock(mutex_);
  return elected_.wait(lock, stop, [&] { return is_leader_; }) ? Status()
                                                               : Status(cancelled_error());
}

}  // namespace fettle
