#pragma once
/// A fleet whose objects, nodes and records are in the store, and whose pods are on engines.

#include "controller/fleet_source.h"
#include "controller/node_news.h"
#include "controller/notifier.h"

namespace fettle {

class StoreSource : public FleetSource {
 public:
  StoreSource(const Workplace& place, Name environment)
      : place_(place), environment_(std::move(environment)) {}

  const Name& environment() const override { return environment_; }
  Result<std::unique_ptr<FleetView>> learn() override;
  PodsQuestion question_about_pods(const FleetView& view) override;
  Status tell_seen(FleetView& view, PodsSeen answer) override;
  std::unique_ptr<FleetNews> news(FleetCache& cache, Edit& edit, Notifier& notifier) override;

 private:
  const Workplace& place_;
  const Name environment_;
};

class StoreNews : public FleetNews {
 public:
  StoreNews(const Workplace& place, FleetCache& cache, Edit& edit, Notifier& notifier);

  void listen() override;
  Status learn() override;
  Result<News> hear() override;
  Instant due() const override;
  Result<bool> watch_nodes() override;
  Status forget_lost() override;
  Status clear_leftovers() override;
  Workplace place_of_acts() const override;

 private:
  Result<bool> delete_expired();

  const Workplace& place_;
  FleetCache& cache_;
  const Name& environment_;
  Notifier& notifier_;
  NodeNews nodes_;
  int64_t stamp_ = 0;  ///< the store's last one, …
  uint64_t version_ = 0;
  Instant read_;  ///< … and when it was asked
};

}  // namespace fettle
