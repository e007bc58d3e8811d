#pragma once
/// Environments as a whole: made, listed, stopped, started, removed.

#include "verbs/workplace.h"

namespace fettle {

struct ServiceView {
  std::string name;
  std::string uuid;
  /// `running`, `stopped`, `absent` when somebody else took it away, or `failed` when the container
  /// that is there is what an attempt to add or replace it has left.
  std::string status;
  std::string error;  ///< of a failed one: what was said
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
/// One service as it is shown, by its name or the beginning of its uuid.
Result<ServiceView> inspect_service(const Workplace& place, const Environment& environment,
                                    const std::string& name);
/// Every service stopped; addresses, files and records stay.
Status stop_environment(const Workplace& place, const std::string& name, bool wait);
Status start_environment(const Workplace& place, const std::string& name, bool wait);
/// Everything that it has in the world, then its records.
Status remove_environment(const Workplace& place, const std::string& name, bool wait);
/// The same; false when somebody else had removed it before.
Result<bool> remove_environment_if_there(const Workplace& place, const Name& name, bool wait);

}  // namespace fettle
