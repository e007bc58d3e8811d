#pragma once
/// A driver of things on a machine: on that which their environment remembers, or for which `--on`
/// asks, else on this one. For a command of somebody else, who does not mean this machine, it then
/// only looks. What needs no machine, such as a rendered template, goes on here.

#include "workplace/driver_decorator.h"
#include "workplace/machines.h"

namespace fettle {

class MachineChoice : public DriverDecorator {
 public:
  /// `here`: acts on this machine. Both must outlive it.
  MachineChoice(Driver& here, const Workplace& place) : DriverDecorator(here), place_(place) {}

  /// Error (`Blame::user`): one of them is on a machine, and nobody has said on which.
  Status ready(std::span<const Resource* const> wanted, std::stop_token stop) override;
  Result<std::vector<Observation>> observe(std::span<const Subject> subjects,
                                           std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;

 private:
  /// Null: this one, or none.
  Result<Machine*> machine_of_key(const Key& key) const;

  const Workplace& place_;
};

}  // namespace fettle
