#pragma once
/// Instances as Starlark functions see them.

#include <map>

#include "model/model.h"
#include "starlark/starlark.h"

namespace fettle::model {

/// Turns attributes into structures. Relations to one are structures, three levels deep; relations
/// to many are lists of structures at the first level.
class InstanceViews {
 public:
  explicit InstanceViews(starlark::Thread& thread) : thread_(thread) {}

  /// Unknowns are left out, and then `has_unknown` is set.
  starlark::Value view(const Model& model, const Instance& instance, bool& has_unknown);

 private:
  class Viewer;
  /// What all instances of an entity have in common at one level.
  struct Layout {
    std::vector<uint32_t> slots;            ///< that the level shows, by name
    std::optional<starlark::Handle> first;  ///< the first structure that has all of them
  };
  Layout& layout(const Model& model, const Entity& entity, int depth);

  starlark::Thread& thread_;
  std::map<std::pair<const Entity*, int>, Layout> layouts_;
};

}  // namespace fettle::model
