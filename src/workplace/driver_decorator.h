#pragma once
/// A driver that wraps another one. It changes what an act is told or reports, and passes the rest
/// on.

#include "core/driver.h"

namespace fettle {

/// `driver` must outlive it.
class DriverDecorator : public Driver {
 public:
  explicit DriverDecorator(Driver& driver) : driver_(driver) {}

  Status ready(std::span<const Resource* const> wanted, std::stop_token stop) override {
    return driver_.ready(wanted, std::move(stop));
  }
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override {
    return driver_.observe(subjects, std::move(stop));
  }
  Result<std::vector<Found>> list(const Name& environment, std::stop_token stop) override {
    return driver_.list(environment, std::move(stop));
  }
  void watch(const Name& environment, const std::function<void(const Key&)>& hint,
             std::stop_token stop) override {
    driver_.watch(environment, hint, std::move(stop));
  }

 protected:
  Driver& driver_;
};

}  // namespace fettle
