#pragma once
/// Changes a pod's attributes in one go: each level is built once, however many rules add to it.

#include <map>
#include <vector>

#include "kinds/pod.h"

namespace fettle::workloads {

class PodEdit {
 public:
  explicit PodEdit(Attributes before) : before_(std::move(before)) {}

  /// The attributes before the edit.
  const Attributes& before() const { return before_; }
  /// The last value for a member counts; null removes it.
  template <auto member>
  void set(Value value) {
    fields_.push_back({row_of<member>().name, std::move(value)});
  }
  /// The same within a dict, such as the pod's own labels. Not together with `set` of that dict.
  template <auto member>
  void set_in(const Name& key, Value value) {
    inner_[row_of<member>().name].push_back({key, std::move(value)});
  }
  Attributes made();

 private:
  Attributes before_;
  std::vector<Entry> fields_;
  std::map<Name, std::vector<Entry>> inner_;
};

}  // namespace fettle::workloads
