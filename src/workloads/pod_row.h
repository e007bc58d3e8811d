#pragma once
/// A pod as one row of a table, with all that the rules of a rollout look at. `rollout.h` makes it
/// from the fleet; tests make it directly.

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "value/value.h"

namespace fettle::workloads {

enum class Phase : uint8_t { pending, unknown, running, succeeded, failed };

/// Whether a pod is ready, as far as the last look at it still holds. A rule that takes pods away
/// needs all three: a pod that is not ready is free, and one that nobody has seen may be needed.
enum class Readiness : uint8_t {
  unseen,  ///< an act on its containers is due, goes on, or has ended since the last look
  not_ready,
  ready
};

/// The stage of a pod in its life (OpenKruise: `lifecycle.apps.kruise.io/state`).
enum class Lifecycle : uint8_t {
  none,
  preparing_normal,
  normal,
  preparing_update,
  updating,
  updated,
  preparing_delete
};

std::string_view to_string(Lifecycle lifecycle);  ///< `PreparingUpdate`
const Name& name_of(Lifecycle lifecycle);         ///< the same
Lifecycle lifecycle_of(std::string_view text);    ///< `none` if it is not known

/// Whether a hook of its workload may hold a pod at this stage.
bool may_be_held(Lifecycle lifecycle);

/// The marks on a pod.
struct PodTag {
  Name name;
  Name node;
  Value labels;  ///< all that it has, including those of users
};

struct PodRow {
  const PodTag* tag = &nobody;  ///< lives longer than the row
  Time ready_since;             ///< of a ready pod; 0: nobody said
  Time created;                 ///< 0: nobody said
  int64_t deletion_cost = 0;
  int restarts = 0;              ///< of the container with the most
  uint32_t node_number = 0;      ///< of a pod that the fleet has
  uint32_t template_number = 0;  ///< equal for pods with equal templates
  uint16_t revision_number = 0;  ///< of those of the decision; as many as there are: another one
  Phase phase = Phase::pending;
  Lifecycle lifecycle = Lifecycle::none;
  Readiness readiness = Readiness::not_ready;
  bool is_available = false;  ///< ready for as long as is asked for, and nothing is done to it
  bool is_updated = false;    ///< it has the update revision
  bool is_updating = false;   ///< an update in place is not complete
  bool is_specified = false;  ///< somebody asked for its deletion, or its node is drained
  bool is_deleted = false;    ///< somebody deleted it: it goes, whatever that costs
  bool has_image = false;     ///< the images that it will run are on its node
  bool is_plain = false;      ///< it has nothing from users, ConfigMaps, Secrets or SidecarSets

  bool is_ready() const { return readiness == Readiness::ready; }
  const Name& name() const { return tag->name; }
  const Name& node() const { return tag->node; }
  const Value& labels() const { return tag->labels; }

  static const PodTag nobody;
};

/// Numbers of rows.
using Order = std::vector<uint32_t>;

}  // namespace fettle::workloads
