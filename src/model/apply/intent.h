#pragma once
/// Turns the resources of a version into an intent of the engine. Pure.
///
/// A resource set is a set of the intent. A resource of a type that fettle knows, or for which
/// there is a handler, becomes a resource of the engine; any other one stays what it is, and the
/// engine finds it unavailable. What requires something comes after it, and is refreshed by it when
/// it receives events and the other sends them.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/record.h"
#include "core/resource.h"
#include "versions/version.h"

namespace fettle::model {

/// A resource of a version, and its set.
struct WantedResource {
  const Item* item = nullptr;
  fettle::Name set;  ///< empty: none
};

struct ApplyOptions {
  fettle::Name environment;
  std::map<std::string, std::string>
      agents;  ///< where an agent's resources are; wins over the model
  /// By type: `{"name", "code": digest}` or `{"name", "program": path}`; in Python also
  /// `interpreter`.
  Value handlers;
  Value files;         ///< for handlers in Python: digests of contents, by SHA-1
  bool prune = false;  ///< what left the model is removed, else it is left alone
};

struct ModelIntent {
  std::shared_ptr<const Intent> intent;
  std::vector<std::pair<fettle::Name, fettle::Key>>
      keys;                                   ///< id and key, in the order of the version
  std::map<fettle::Name, std::string> notes;  ///< by id: why it is unavailable
};

/// The intent speaks for every set of the version and for every set of the model that `known`
/// remembers. Resources with `managed = false` are left out. Errors (`Blame::user`): a field is
/// wrong, an id is not valid, or two resources are the same thing.
Result<ModelIntent> intent_of_version(std::span<const WantedResource> resources, const Known& known,
                                      const ApplyOptions& options);

/// The set of the intent for a resource set.
fettle::Name intent_set(const fettle::Name& set);
/// Whether a record belongs to a model.
bool is_of_model(const Record& record);

}  // namespace fettle::model
