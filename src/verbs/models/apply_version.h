#pragma once
/// A version made true: its resources become an intent, the world is looked at, and the engine does
/// what is due. Needs nothing but the store.

#include <map>

#include "verbs/models/versions.h"
#include "workplace/field_changes.h"
#include "workplace/preview.h"

namespace fettle {

struct ApplyRequest {
  Name environment;
  std::optional<uint64_t> version;            ///< none: the newest
  std::map<std::string, std::string> agents;  ///< where agents are: `{"web1": "local:"}`
  bool prune = false;  ///< what left the model is removed, else it is an orphan
  int parallelism = 4;
  bool releases = false;           ///< the version is released first, once it can be meant
  bool wait = true;                ///< for another process that works on the environment
  std::optional<KeptPlan> plan{};  ///< refused when something else is to be done by now
};

/// Inmanta's states of a resource after a deployment.
enum class DeployState {
  deployed,
  failed,
  skipped,                ///< what it needs is not deployed, or its handler skipped it
  skipped_for_undefined,  ///< something it needs is undefined, however far away
  unavailable,            ///< nobody here can act on it
  undefined,              ///< a value of it is unknown
  non_compliant,          ///< it is only reported, and is not as wanted
  available,              ///< not reached: somebody stopped the run
};
std::string_view to_string(DeployState state);

struct DeployedResource {
  Name id, set, origin;
  DeployState state = DeployState::available;
  bool changed = false;  ///< in this run
  std::string why;
  std::vector<FieldChange> changes;  ///< what was changed about it, when it was there before
  std::vector<std::string> printed;  ///< by its handler
};

/// What left the model. An orphan stays in the world and in the records; what was as wanted before
/// anybody wrote it, and what is nothing in the world, is forgotten.
struct LeftResource {
  Key key;
  enum class Fate { orphaned, forgotten, removed, failed, skipped } fate = Fate::orphaned;
  std::string error;  ///< why it failed or was skipped
  std::string why{};  ///< who else wants it, when that is why it stays
};
std::string_view to_string(LeftResource::Fate fate);

struct ApplyReport {
  uint64_t version = 0;
  std::vector<DeployedResource> resources;  ///< in the order of the version
  std::vector<LeftResource> left;           ///< by key
  size_t orphans = 0;                       ///< of the environment, those of before included
  size_t shared = 0;                        ///< those of them that others want
  bool is_stopped = false;
  Duration took{0};
  size_t count(DeployState state) const;
  /// 0: nothing failed; 1: something did; 3: nothing did, and something was skipped; 130: stopped.
  int exit_code() const;
};

/// Errors: `Blame::user` when the version cannot be meant, before anything is changed; what fails
/// in the world is in the report. `audience` may be null.
Result<ApplyReport> apply_version(const Workplace& place, const ApplyRequest& request,
                                  Audience* audience);

/// The version, which is then the one released last; nothing when it is already.
Result<uint64_t> release_version(const Workplace& place, const Name& environment,
                                 std::optional<uint64_t> version);

}  // namespace fettle
