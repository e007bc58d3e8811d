#pragma once
/// Workloads on the engines of a home: manifests that users stored, and how they come about. One
/// environment is a fleet. Its objects stand in versions, each a set of its own; what is decided
/// about them is `src/workloads`.

#include "verbs/edit.h"
#include "workloads/read.h"

namespace fettle {

/// The environment when nobody names one.
inline constexpr std::string_view default_fleet = "fleet";

/// In the order of their names.
Result<std::vector<workloads::Object>> stored_objects(const Workplace& place,
                                                      const Name& environment);

struct StoredObject {
  Name owner;  ///< `CloneSet/NAMESPACE/NAME`
  enum class Fate { created, configured, unchanged, deleted } fate = Fate::unchanged;
};
std::string_view to_string(StoredObject::Fate fate);

/// Adds objects, or changes those of the same name, in one version. Errors (`Blame::user`): an
/// object cannot become what it is to be.
Result<std::vector<StoredObject>> store_objects(const Workplace& place, const Name& environment,
                                                std::vector<workloads::Object> objects);
/// Errors (`Blame::user`): there is no such object.
Result<std::vector<StoredObject>> delete_objects(const Workplace& place, const Name& environment,
                                                 const std::vector<Name>& owners);

struct BringOptions {
  Duration limit = 10min;  ///< without anything that changes
  bool wait_for_others = true;
  Audience* audience = nullptr;  ///< may be null
};

/// What came of it.
struct Brought {
  Summary summary;  ///< of all passes: failures are those of the last one
  std::vector<std::string>
      unsettled;  ///< `pod default/web-1: container `web`: …`, when it was late
  size_t pods = 0, ready = 0;
};

/// Brings all workloads of a fleet about: asks each what it wants, has that carried out, looks, and
/// asks again, until nobody wants anything more and the pods that are wanted are ready. What is
/// paused, or held back by a partition, wants nothing more.
Result<Brought> bring_workloads(const Workplace& place, const Name& environment,
                                const BringOptions& options);

/// All objects, workloads with the status that was seen just now.
Result<std::vector<workloads::Object>> objects_with_status(const Workplace& place,
                                                           const Name& environment);

/// A pod as Kubernetes writes it, with the status that was seen just now.
Result<std::vector<Value>> pods_of(const Workplace& place, const Name& environment);

}  // namespace fettle
