#pragma once
/// A driver of things on this machine, for a command of somebody else: it looks, and refuses what
/// would act on the machine. What needs no machine, such as a rendered template, goes on.

#include "workplace/driver_decorator.h"

namespace fettle {

class MachineRefusal : public DriverDecorator {
 public:
  using DriverDecorator::DriverDecorator;

  /// Error (`Blame::user`): one of them is a file, a command or the like, or belongs to a handler.
  Status ready(std::span<const Resource* const> wanted, std::stop_token stop) override;
  Result<Outcome> apply(const Act& act, const ProgressSink& progress,
                        std::stop_token stop) override;
};

}  // namespace fettle
