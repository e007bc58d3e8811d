#pragma once
/// In which steps a template changes in place: containers with a higher launch priority first,
/// those without one together with the first. A step's template is a mixture of the old one and the
/// new one, so that the next step is found from what the pod has.

#include <map>

#include "kinds/pod_change.h"
#include "workloads/fleet.h"

namespace fettle::workloads {

struct Step {
  Value pod_template;
  std::vector<Name> images;       ///< containers that get another image
  std::vector<Name> environment;  ///< containers that are made anew for a label they take
  std::vector<Name> resources;    ///< containers that are resized
  bool is_last = true;
  /// Whether those who use the pod have to be told: all but a resize that stops nothing.
  bool disturbs = true;
};

/// What a change does next. `change` is that of the two templates, and in place.
Step next_step(const Value& before, const Value& after, const PodChange& change);

/// The same, found once for all pods that make the same step.
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
