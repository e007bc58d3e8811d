#include "workloads/pods/pod_edit.h"

#include "workloads/rollout.h"

namespace fettle::workloads {

Value PodEdit::made() {
  for (auto& [field, entries] : inner_) {
    Value inner = edited_within(before_.at(field), std::move(entries));
    fields_.push_back({field, inner.entries().empty() ? Value() : std::move(inner)});
  }
  inner_.clear();
  return edited(before_, std::exchange(fields_, {}));
}

}  // namespace fettle::workloads
