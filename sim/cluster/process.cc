#include "sim/cluster/process.h"

#include "base/text.h"
#include "controller/cluster_access.h"

namespace fettle::sim {

Process::Process(World& world, const ProcessSettings& settings)
    : world_(world), settings_(settings) {
  world_.turns.join_group(settings_.group);
  auto line = std::make_unique<Line>(world, settings_.name);
  line_ = line.get();
  link_ = std::make_unique<ClusterLink>(std::move(line), link_settings(), now_from_clock,
                                        settings_.seed);
  link_->begin();
  thread_ = Thread([this] { keep(); });
  world_.turns.join_group(0);
}

ClusterSettings Process::link_settings() {
  ClusterSettings settings{.client = {.qps = settings_.qps, .user_agent = settings_.name}};
  if (!settings_.has_lease)
    return settings;
  settings.lease =
      kubernetes::LeaseSettings{.lease = {"kube-system", "fettle"}, .identity = settings_.name};
  settings.lease_lost = [this] {
    has_lost_lease_ = true;
    world_.note(cat(settings_.name, " has lost the lease"));
    interrupt_.ask();
  };
  return settings;
}

void Process::keep() {
  if (link_->await_lease(interrupt_.acts_token())) {
    Workplace place;
    place.kinds = &kinds_;
    place.clock = now_from_clock;
    place.random = [this] { return settings_.seed; };
    place.interrupt = &interrupt_;
    place.driver = [this](const Name& name) -> Driver* {
      return name == cluster::driver_name ? &link_->driver() : nullptr;
    };
    place.notice = [this](const std::string& text) {
      world_.note(cat(settings_.name, ": ", text));
    };
    BringOptions options;
    options.keeps = true;
    const auto brought = bring_cluster(
        place, {link_->client(), link_->objects(), link_->owners(), link_->policy_version()}, {},
        options);
    if (!brought && interrupt_.asked() == 0 && !line_->is_cut())
      world_.complain(cat(settings_.name, " ends: ", to_string(brought.error())));
  }
  has_ended_ = true;
}

Process::~Process() {
  interrupt_.ask();
  if (line_->is_cut())
    interrupt_.ask();
  thread_.join();
  link_.reset();
}

}  // namespace fettle::sim
