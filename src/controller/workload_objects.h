#pragma once
/// Adds, changes and deletes the manifests that users store. They stand in versions, each a set of
/// its own. To write one is a wish: whoever acts on the fleet finds it and carries it out.

#include <functional>

#include "controller/manifests.h"
#include "workloads/fleet.h"
#include "workloads/read/merge.h"
#include "workloads/read/read.h"
#include "workplace/edit.h"

namespace fettle {

/// The environment if nobody names one.
inline constexpr std::string_view default_fleet = "fleet";

/// The document, together with what only the fleet knows: namespace, uid, generation, and the time
/// of creation.
Value shown_document(const workloads::Object& object);

struct StoredObject {
  Name owner;  ///< `CloneSet/NAMESPACE/NAME`
  enum class Fate { created, configured, unchanged, deleted } fate = Fate::unchanged;
  bool is_record_new = false;                      ///< what was applied last differs from before
  std::vector<workloads::TakenBack> taken_back{};  ///< by an apply
};
std::string_view to_string(StoredObject::Fate fate);

/// What would become of objects if they were stored; `objects` get the generations that they will
/// have. Errors (`Blame::user`): an object cannot be changed like that.
Result<std::vector<StoredObject>> fates_of(const std::vector<workloads::Object>& before,
                                           std::vector<workloads::Object>& objects);

/// The objects as `apply` would store them: merged with the stored ones, as kubectl does
/// (`workloads/merge.h`). Errors (`Blame::user`): the result breaks a rule.
Result<std::vector<workloads::Object>> merged_objects(const std::vector<workloads::Object>& before,
                                                      std::vector<workloads::Object> objects);
/// Stores the objects in one version. Errors: those of `merged_objects` and `fates_of`.
Result<std::vector<StoredObject>> apply_objects(const Workplace& place, const Name& environment,
                                                const std::vector<workloads::Object>& objects);

/// Adds objects, or replaces those of the same name, in one version. Errors: those of `fates_of`.
Result<std::vector<StoredObject>> store_objects(const Workplace& place, const Name& environment,
                                                std::vector<workloads::Object> objects);
/// Errors (`Blame::user`): there is no such object.
Result<std::vector<StoredObject>> delete_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners);

/// Says what becomes of one object.
using ObjectChange = std::function<Result<workloads::Object>(const workloads::Object& before)>;
/// Changes stored objects in one version. Errors (`Blame::user`): there is no such object, or it
/// cannot be changed like that.
Result<std::vector<StoredObject>> change_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners,
                                                 const ObjectChange& change);

/// Switches feature gates of the fleet on or off, `NAME=BOOL,…`; earlier settings stay. Errors
/// (`Blame::user`): those of `workloads/gates.h`. `check_gates` reports them and changes nothing.
Status check_gates(const Workplace& place, const Name& environment, std::string_view text);
Status put_gates(const Workplace& place, const Name& environment, std::string_view text);
Result<workloads::Gates> stored_gates(const Workplace& place, const Name& environment);
/// Those of a text, where nobody remembers any; empty: the defaults.
Result<workloads::Gates> gates_in(std::string_view text);

/// Changes what users say about pods: labels, annotations and finalizers in the `metadata` of an
/// object `Pod`, which starts empty for a pod about which nobody has said anything. `made`: when
/// each of `owners` was made; marks of an earlier pod of the same name do not count any more.
Result<std::vector<StoredObject>> mark_pods(const Workplace& place, const Name& environment,
                                            const std::map<Name, Time>& made,
                                            const ObjectChange& change);

}  // namespace fettle
