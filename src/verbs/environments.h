#pragma once
/// Environments as a whole: made, listed, stopped, started, removed.

#include "verbs/workplace.h"

namespace fettle {

struct ServiceView {
  std::string name;
  std::string uuid;
  std::string status;  ///< `running`, `stopped`, or `absent` when somebody else took it away
  Value attributes;
  Value outputs;
  std::string container;
};

struct ArtifactView {
  std::string name, uuid, digest;
};

struct EnvironmentView {
  Environment environment;
  std::string status;  ///< `running`, `stopped`, `empty`
  std::vector<ServiceView> services;
  std::vector<ArtifactView> artifacts;
};

Result<Environment> add_environment(const Workplace& place, const std::string& name,
                                    bool production, bool wait);
/// One without a uuid is known to the engine alone; it is taken over when somebody names it.
Result<std::vector<Environment>> list_environments(const Workplace& place);
/// With the state of its services as the engine tells it, by one list. A service that was removed
/// on purpose is not shown.
Result<EnvironmentView> inspect_environment(const Workplace& place, const std::string& name);
/// Every service stopped; addresses, files and records stay.
Status stop_environment(const Workplace& place, const std::string& name, bool wait);
Status start_environment(const Workplace& place, const std::string& name, bool wait);
/// Everything that it has in the world, then its records.
Status remove_environment(const Workplace& place, const std::string& name, bool wait);

}  // namespace fettle
