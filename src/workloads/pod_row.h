#pragma once
/// What the rules of a rollout look at: a pod as one row of a table. Made from the fleet by
/// `rollout.h`, and by tests directly.

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "value/value.h"

namespace fettle::workloads {

enum class Phase : uint8_t { pending, unknown, running, succeeded, failed };

/// Whether a pod is ready, as far as the last look at it still holds. Whoever may take a pod away
/// asks for all three: one that is not ready is free, one that nobody has seen may be needed.
enum class Readiness : uint8_t {
  unseen,  ///< an act on its containers is due, goes on, or has ended since the last look
  not_ready,
  ready
};

/// How far a pod's workload has come with it (OpenKruise: `lifecycle.apps.kruise.io/state`).
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
Lifecycle lifecycle_of(std::string_view text);    ///< none when it is not known

/// Whether a hook of its workload may hold a pod in it.
bool may_be_held(Lifecycle lifecycle);

/// What stands on a pod.
struct PodTag {
  Name name;
  Name node;
  Value labels;  ///< all that it has, those that users gave it included
};

struct PodRow {
  const PodTag* tag = &nobody;  ///< lives longer than the row
  Time ready_since;             ///< of a ready one; 0: nobody said
  Time created;                 ///< 0: nobody said
  int64_t deletion_cost = 0;
  int restarts = 0;              ///< of the container with the most
  uint32_t node_number = 0;      ///< of a pod that the fleet has
  uint32_t template_number = 0;  ///< pods with equal templates have the same
  uint16_t revision_number = 0;  ///< of the decision's revisions; as many as there are: another one
  Phase phase = Phase::pending;
  Lifecycle lifecycle = Lifecycle::none;
  Readiness readiness = Readiness::not_ready;
  bool is_available = false;  ///< ready for as long as is asked for, and nothing is done to it
  bool is_updated = false;    ///< it has the update revision
  bool is_updating = false;   ///< an update in place is not complete
  bool is_specified = false;  ///< somebody asked for its deletion, or its node is drained
  bool is_deleted = false;    ///< somebody deleted it: it goes whatever that costs
  bool has_image = false;     ///< what it is to run is on its node
  bool is_plain = false;      ///< it has nothing of users, ConfigMaps, Secrets or SidecarSets

  bool is_ready() const { return readiness == Readiness::ready; }
  const Name& name() const { return tag->name; }
  const Name& node() const { return tag->node; }
  const Value& labels() const { return tag->labels; }

  static const PodTag nobody;
};

/// Numbers of rows.
using Order = std::vector<uint32_t>;

}  // namespace fettle::workloads
