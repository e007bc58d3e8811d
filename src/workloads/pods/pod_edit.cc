#include "workloads/pods/pod_edit.h"

#include "core/open_payload.h"
#include "workloads/rollout.h"

namespace fettle::workloads {

Attributes PodEdit::made() {
  for (auto& [field, entries] : inner_) {
    Value inner = edited_within(dict_of(before_).at(field), std::move(entries));
    fields_.push_back({field, inner.entries().empty() ? Value() : std::move(inner)});
  }
  inner_.clear();
  return edited(dict_of(before_), std::exchange(fields_, {}));
}

}  // namespace fettle::workloads
