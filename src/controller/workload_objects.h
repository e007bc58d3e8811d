#pragma once
/// Manifests that users stored: added, changed, deleted. They stand in versions, each a set of its
/// own. To write one is a wish: whoever acts on the fleet goes on, and finds it.

#include <functional>

#include "controller/manifests.h"
#include "workloads/fleet.h"
#include "workloads/read/merge.h"
#include "workloads/read/read.h"
#include "workplace/edit.h"

namespace fettle {

/// The environment when nobody names one.
inline constexpr std::string_view default_fleet = "fleet";

/// The document with what only the fleet knows of it: namespace, uid, generation, and when it was
/// created.
Value shown_document(const workloads::Object& object);

struct StoredObject {
  Name owner;  ///< `CloneSet/NAMESPACE/NAME`
  enum class Fate { created, configured, unchanged, deleted } fate = Fate::unchanged;
  bool is_record_new = false;  ///< what was applied last is another one than before
  std::vector<workloads::TakenBack> taken_back{};  ///< by an apply
};
std::string_view to_string(StoredObject::Fate fate);

/// What would become of objects that are stored; `objects` get the generations that they will have.
/// Errors (`Blame::user`): an object cannot become what it is to be.
Result<std::vector<StoredObject>> fates_of(const std::vector<workloads::Object>& before,
                                           std::vector<workloads::Object>& objects);

/// Objects as `apply` would store them: merged with what is stored, as kubectl does
/// (`workloads/merge.h`). Errors (`Blame::user`): what comes of it breaks a rule.
Result<std::vector<workloads::Object>> merged_objects(const std::vector<workloads::Object>& before,
                                                      std::vector<workloads::Object> objects);
/// Stores them, in one version. Errors: those of `merged_objects` and `fates_of`.
Result<std::vector<StoredObject>> apply_objects(const Workplace& place, const Name& environment,
                                                const std::vector<workloads::Object>& objects);

/// Adds objects, or puts them in the place of those of the same name, in one version. Errors: those
/// of `fates_of`.
Result<std::vector<StoredObject>> store_objects(const Workplace& place, const Name& environment,
                                                std::vector<workloads::Object> objects);
/// Errors (`Blame::user`): there is no such object.
Result<std::vector<StoredObject>> delete_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners);

/// What becomes of one object.
using ObjectChange = std::function<Result<workloads::Object>(const workloads::Object& before)>;
/// Changes objects that are stored, in one version. Errors (`Blame::user`): there is no such
/// object, or it cannot become what it is to be.
Result<std::vector<StoredObject>> change_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners,
                                                 const ObjectChange& change);

/// Switches feature gates of the fleet on or off, `NAME=BOOL,…`; what was said before stays. Errors
/// (`Blame::user`): those of `workloads/gates.h`; `check_gates` tells them and changes nothing.
Status check_gates(const Workplace& place, const Name& environment, std::string_view text);
Status put_gates(const Workplace& place, const Name& environment, std::string_view text);
Result<workloads::Gates> stored_gates(const Workplace& place, const Name& environment);

/// Changes what users say about pods: labels, annotations and finalizers in the `metadata` of an
/// object `Pod`, which begins empty for a pod that nobody said anything about. `made`: when each of
/// `owners` was made; what was said about an earlier one of the same name is over.
Result<std::vector<StoredObject>> mark_pods(const Workplace& place, const Name& environment,
                                            const std::map<Name, Time>& made,
                                            const ObjectChange& change);

}  // namespace fettle
