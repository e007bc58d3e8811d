#pragma once
/// Verbs for whole environments: make, list, stop, start, remove.

#include "verbs/environments/built_images.h"
#include "workplace/edit.h"
#include "workplace/shared.h"

namespace fettle {

struct ServiceView {
  std::string name;
  std::string uuid;
  /// `running`, `stopped`, `absent` if somebody else removed it, or `failed` if its container was
  /// left by a failed attempt to add or replace it.
  std::string status;
  std::string error;  ///< the message, if it failed
  /// The exit code of a service that ended with an error although nobody stopped it.
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
  /// `running` or `stopped`; without services, `deployed` if anything else is there, else `empty`.
  std::string status;
  std::vector<ServiceView> services;
  std::vector<ArtifactView> artifacts;
};

/// An environment, and what happened when it was made.
struct AddedEnvironment {
  Environment environment;
  Summary summary;
};
/// Makes an empty environment, which is its network: without that there is none.
Result<AddedEnvironment> add_environment(const Workplace& place, const std::string& name,
                                         bool production, bool wait);
/// An environment without a uuid is known only to the engine; it is taken over when somebody names
/// it.
Result<std::vector<Environment>> list_environments(const Workplace& place);
/// The state of its services comes from the engine, by one list. A service that was removed on
/// purpose is not shown. `seen` must have been looked at just now, and `known` must have been read
/// just now.
Result<EnvironmentView> inspect_environment(const Workplace& place, const std::string& name,
                                            const Seen& seen = {}, const Known* known = nullptr);
/// The files artifacts that nobody removed, by name. Needs no engine.
std::vector<ArtifactView> artifacts_of(const Known& known);
/// One service as it is shown, found by its name or the beginning of its uuid.
Result<ServiceView> inspect_service(const Workplace& place, const Environment& environment,
                                    const std::string& name);
/// Whether the environment may be stopped and started. Error (`Blame::user`): it has workloads,
/// which may not.
Status check_transit(const Workplace& place, const Name& environment);
/// Stops every service. Addresses, files and records stay.
Result<Summary> stop_environment(const Workplace& place, const std::string& name, bool wait);
/// Starts every service that does not run.
Result<Summary> start_environment(const Workplace& place, const std::string& name, bool wait);
/// Does both, one after the other, and nobody can act in between.
Result<Summary> restart_environment(const Workplace& place, const std::string& name, bool wait);
struct Removal {
  bool wait = true;    ///< for others who work on it
  bool prune = false;  ///< also removes what models and files of states made on this machine
};
/// A thing that stays, and how it is shown (`shown_thing`).
struct KeptThing {
  Key key;
  std::string shown;
};
struct RemovalResult {
  Summary summary;
  std::map<Name, size_t> taken;    ///< the number of removed things of each kind
  std::vector<KeptThing> staying;  ///< made by models and files of states, and staying; by key
  Sharers shared;                  ///< things that stay because others want them
};
/// Removes everything that the environment has in the world and, if nothing of that is left, its
/// records.
Result<RemovalResult> remove_environment(const Workplace& place, const std::string& name,
                                         const Removal& removal);

/// What to clear away.
struct CleanOptions {
  bool all = false;                    ///< also environments of packages that are not stopped
  bool wait = true;                    ///< for others who work on an environment
  std::optional<Duration> older_than;  ///< events and cached things that are older go
};
struct CleanResult {
  std::vector<std::string> environments;
  size_t contents = 0;  ///< those that nobody refers to
  size_t events = 0;
  OldImages images;                                   ///< that were built
  std::vector<std::pair<std::string, Summary>> left;  ///< environments that could not be removed
  /// Environments of models and states, which `all` does not include, and what each of them has.
  std::vector<std::pair<std::string, std::string>> kept;
};
/// Calls `removed` for each environment as it goes.
Result<CleanResult> clean(const Workplace& place, const CleanOptions& cleaning,
                          const std::function<void(const std::string&)>& removed);

}  // namespace fettle
