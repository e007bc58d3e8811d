#include "drivers/kubernetes/cluster_link.h"

#include "base/text.h"
#include "cluster/types.h"
#include "kubernetes/discovery.h"

namespace fettle {
namespace {

const std::vector<kubernetes::ResourceType>& followed_types() {
  static const std::vector<kubernetes::ResourceType> all = [] {
    std::vector<kubernetes::ResourceType> types = cluster::types::workloads;
    types.insert(types.end(), {cluster::types::nodes, cluster::types::revisions,
                               cluster::types::claims, cluster::types::pods});
    return types;
  }();
  return all;
}

}  // namespace

ClusterLink::ClusterLink(std::unique_ptr<kubernetes::Transport> transport, ClusterSettings settings,
                         std::function<Time()> clock, uint64_t seed)
    : settings_(std::move(settings)),
      seed_(seed),
      client_(std::move(transport), with_permit(settings_.client)),
      objects_(followed_types()),
      driver_(client_, objects_, owners_, settings_.gates, std::move(clock)) {
  if (settings_.lease)
    candidate_ = std::make_unique<kubernetes::Candidate>(client_, *settings_.lease, seed_++);
}

/// All threads are told before one is waited for.
ClusterLink::~ClusterLink() {
  for (std::jthread& thread : threads_)
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
  for (const kubernetes::ResourceType& type : followed_types())
    if (found.find(type.group, type.version, type.plural) == nullptr)
      return user_error(cat("the cluster does not serve `", type.plural, "` of `",
                            type.api_version(), "`; define them by `packaging/kubernetes/crds`"));
  return {};
}

Result<std::vector<std::string>> ClusterLink::unkept(const std::stop_token& stop) {
  std::vector<std::string> found;
  for (const char* plural : {"imagepulljobs", "sidecarsets"}) {
    const bool is_namespaced = plural != std::string_view("sidecarsets");
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
  for (const kubernetes::ResourceType& type : followed_types()) {
    kubernetes::Reflector& reflector = reflectors_.emplace_back(
        kubernetes::ReflectorSettings{
            .type = type, .space = type.is_namespaced ? settings_.space : std::string()},
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
