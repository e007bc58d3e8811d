#pragma once
/// A fleet of this machine: its objects and records are in the store, its pods on engines.

#include "controller/fleet_access.h"

namespace fettle {

class StoreFleet : public FleetAccess {
 public:
  /// `place` outlives it.
  StoreFleet(const Workplace& place, Name environment)
      : place_(place), environment_(std::move(environment)) {}

  const Workplace& place() const override { return place_; }
  const Name& environment() const override { return environment_; }
  Result<std::vector<Value>> documents(const std::string& kind, const std::string& space) override;
  Result<Value> rollout_status(const Name& owner) override;
  Result<std::vector<workloads::Object>> with_status(const IsMeant& is_meant) override;
  Result<std::vector<std::string>> history(const Name& owner) override;
  Result<std::vector<ImageView>> images(bool all) override;
  Result<std::unique_ptr<FleetView>> view_of(const Name& owner) override;
  Result<Trial> try_out(std::vector<workloads::Object> objects) override;
  Result<std::vector<StoredObject>> change(const Name& owner, const ObjectChange& change) override;
  Result<std::vector<StoredObject>> return_to(const Name& owner, const Name& revision,
                                              const Value& pod_template) override;

 private:
  const Workplace& place_;
  const Name environment_;
};

}  // namespace fettle
