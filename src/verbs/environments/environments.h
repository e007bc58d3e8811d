#pragma once
/// Environments as a whole: made, listed, stopped, started, removed.

#include "workplace/edit.h"
#include "workplace/shared.h"

namespace fettle {

struct ServiceView {
  std::string name;
  std::string uuid;
  /// `running`, `stopped`, `absent` when somebody else took it away, or `failed` when the container
  /// that is there is what an attempt to add or replace it has left.
  std::string status;
  std::string error;  ///< of a failed one: what was said
  /// The exit code of one that ended with an error though nobody stopped it.
  std::optional<int64_t> ended_with;
  Attributes attributes;
  Outputs outputs;
  std::string container;
};

struct ArtifactView {
  std::string name, uuid, digest;
};

struct EnvironmentView {
  Environment environment;
  /// `running`, `stopped`; without services `deployed` when anything else is there, or `empty`.
  std::string status;
  std::vector<ServiceView> services;
  std::vector<ArtifactView> artifacts;
};

/// An environment, and what came of making it.
struct AddedEnvironment {
  Environment environment;
  Summary summary;
};
/// An empty environment is its network; without that there is none.
Result<AddedEnvironment> add_environment(const Workplace& place, const std::string& name,
                                         bool production, bool wait);
/// One without a uuid is known to the engine alone; it is taken over when somebody names it.
Result<std::vector<Environment>> list_environments(const Workplace& place);
/// With the state of its services as the engine tells it, by one list. A service that was removed
/// on purpose is not shown. What is in `seen` was looked at just now, and `known` was read just
/// now.
Result<EnvironmentView> inspect_environment(const Workplace& place, const std::string& name,
                                            const Seen& seen = {}, const Known* known = nullptr);
/// One service as it is shown, by its name or the beginning of its uuid.
Result<ServiceView> inspect_service(const Workplace& place, const Environment& environment,
                                    const std::string& name);
/// Whether one may be stopped and started. Error (`Blame::user`): workloads may not.
Status check_transit(const Workplace& place, const Name& environment);
/// Every service stopped; addresses, files and records stay.
Result<Summary> stop_environment(const Workplace& place, const std::string& name, bool wait);
/// Every service that does not run started.
Result<Summary> start_environment(const Workplace& place, const std::string& name, bool wait);
/// Both, one after the other, with nobody in between.
Result<Summary> restart_environment(const Workplace& place, const std::string& name, bool wait);
struct Removal {
  bool wait = true;    ///< for others who work on it
  bool prune = false;  ///< also what models and files of states made on this machine
};
/// Something that stays, and how it is shown (`shown_thing`).
struct Staying {
  Key key;
  std::string shown;
};
struct Removed {
  Summary summary;
  std::map<Name, size_t> taken;  ///< how many things of each kind went
  std::vector<Staying> staying;  ///< what models and files of states made and what stays; by key
  Shared shared;                 ///< what would have gone and stays, since others want it
};
/// Everything that it has in the world, then, when nothing of that is left, its records.
Result<Removed> remove_environment(const Workplace& place, const std::string& name,
                                   const Removal& removal);

/// What is cleared away.
struct Cleaning {
  bool all = false;                    ///< environments of packages that are not stopped, too
  bool wait = true;                    ///< for others who work on an environment
  std::optional<Duration> older_than;  ///< events and what was cached before that
};
struct Cleaned {
  std::vector<std::string> environments;
  size_t contents = 0;  ///< that nobody refers to
  size_t events = 0;
  std::vector<std::pair<std::string, Summary>> left;  ///< environments that could not be removed
  /// Environments of models and states, which `all` does not take, and what each of them has.
  std::vector<std::pair<std::string, std::string>> kept;
};
/// `removed` is told of each environment as it goes.
Result<Cleaned> clean(const Workplace& place, const Cleaning& cleaning,
                      const std::function<void(const std::string&)>& removed);

}  // namespace fettle
