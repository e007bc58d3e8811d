#pragma once
/// Environments as a whole: made, listed, stopped, started, removed, and found again by the marks
/// of the engine when the store is gone.

#include "verbs/workplace.h"

namespace fettle {

struct ServiceView {
  std::string name;
  std::string uuid;
  std::string status;  ///< `running`, `exited`, `absent` …
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
Result<std::vector<Environment>> list_environments(const Workplace& place);
/// With the state of its services as the engine tells it, by one list.
Result<EnvironmentView> inspect_environment(const Workplace& place, const std::string& name);
/// Every service stopped; addresses, files and records stay.
Status stop_environment(const Workplace& place, const std::string& name, bool wait);
Status start_environment(const Workplace& place, const std::string& name, bool wait);
/// Everything that it has in the world, then its records.
Status remove_environment(const Workplace& place, const std::string& name, bool wait);
/// Takes over what the engine has under an environment's marks and the store does not know.
Result<size_t> adopt_environment(const Workplace& place, const std::string& name);

}  // namespace fettle
