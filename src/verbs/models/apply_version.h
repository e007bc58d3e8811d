#pragma once
/// Deploys a version: its resources become an intent, the world is looked at, and the engine does
/// what is due. This needs only the store.

#include <map>

#include "verbs/models/versions.h"
#include "workplace/field_changes.h"
#include "workplace/preview.h"

namespace fettle {

struct ApplyRequest {
  Name environment;
  std::optional<uint64_t> version;            ///< none: the newest one
  std::map<std::string, std::string> agents;  ///< places of agents: `{"web1": "local:"}`
  bool prune = false;  ///< what left the model is removed; else it becomes an orphan
  int parallelism = 4;
  bool releases = false;           ///< the version is released first, once it is known to be valid
  bool wait = true;                ///< for another process that works on the environment
  std::optional<KeptPlan> plan{};  ///< refused if something else is due by now
};

/// Inmanta's states of a resource after a deployment.
enum class DeployState {
  deployed,
  failed,
  skipped,                ///< what it needs is not deployed, or its handler skipped it
  skipped_for_undefined,  ///< something it needs, directly or not, is undefined
  unavailable,            ///< nobody here can act on it
  undefined,              ///< a value of it is unknown
  non_compliant,          ///< it is only reported, and is not as wanted
  available,              ///< not reached: somebody stopped the run
};
std::string_view to_string(DeployState state);

struct DeployedResource {
  Name id, set, origin;
  DeployState state = DeployState::available;
  bool changed = false;  ///< by this run
  std::string why;
  std::vector<FieldChange> changes;  ///< what was changed about it, if it was there before
  std::vector<std::string> printed;  ///< printed by its handler
};

/// A resource that left the model. An orphan stays in the world and in the records. It is forgotten
/// if it was as wanted before anybody wrote it, or if it is nothing in the world.
struct LeftResource {
  Key key;
  enum class Fate { orphaned, forgotten, removed, failed, skipped } fate = Fate::orphaned;
  std::string error;  ///< why it failed or was skipped
  std::string why{};  ///< who else wants it, if that is why it stays
};
std::string_view to_string(LeftResource::Fate fate);

struct ApplyReport {
  uint64_t version = 0;
  std::vector<DeployedResource> resources;  ///< in the order of the version
  std::vector<LeftResource> left;           ///< sorted by key
  size_t orphans = 0;                       ///< all of the environment, including earlier ones
  size_t shared = 0;                        ///< those of them that others want
  bool is_stopped = false;
  Duration took{0};
  size_t count(DeployState state) const;
  /// 0: nothing failed; 1: something failed; 3: nothing failed, and something was skipped; 130:
  /// stopped.
  int exit_code() const;
};

/// Errors (`Blame::user`): the version is not valid; then nothing was changed. Failures in the
/// world are in the report. `audience` may be null.
Result<ApplyReport> apply_version(const Workplace& place, const ApplyRequest& request,
                                  Audience* audience);

/// Releases a version, and returns its number. It does nothing if that version was released last.
Result<uint64_t> release_version(const Workplace& place, const Name& environment,
                                 std::optional<uint64_t> version);

}  // namespace fettle
