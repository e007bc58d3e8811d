#pragma once
/// The steps in which a template changes in place. Containers with a higher launch priority come
/// first; those without one change together with the first. A step's template is a mixture of the
/// old one and the new one, so that the next step follows from what the pod has.

#include <map>

#include "kinds/pod_change.h"
#include "workloads/fleet.h"

namespace fettle::workloads {

struct Step {
  Value pod_template;
  std::vector<Name> images;       ///< containers that get another image
  std::vector<Name> environment;  ///< containers that are recreated for a label that they take
  std::vector<Name> resources;    ///< containers that are resized
  bool is_last = true;
  /// Whether those who use the pod must be told. They must, unless it is a resize that stops
  /// nothing.
  bool disturbs = true;
};

/// The next step of a change. `change` is that from one template to the other, and in place.
Step next_step(const Value& before, const Value& after, const PodChange& change);

/// The same, computed once for all pods that make the same step.
class Steps {
 public:
  explicit Steps(const PodChangeGates& gates) : gates_(gates) {}
  const PodChange& change(const Value& before, const Value& after);
  const Step& next(const Value& before, const Value& after);

 private:
  PodChangeGates gates_;
  std::map<std::pair<Digest, Digest>, PodChange> changes_;
  std::map<std::pair<Digest, Digest>, Step> steps_;
};

}  // namespace fettle::workloads
