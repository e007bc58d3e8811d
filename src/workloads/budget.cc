#include "workloads/budget.h"

namespace fettle::workloads {

bool Budget::may_take(const PodRow& pod) const {
  if (pod.is_available)
    return spare_ > 0;
  return spare_ >= 0 || pod.readiness != Readiness::unseen;
}

bool Budget::take(const PodRow& pod) {
  if (!may_take(pod))
    return false;
  spare_ -= pod.is_available ? 1 : 0;
  return true;
}

}  // namespace fettle::workloads
