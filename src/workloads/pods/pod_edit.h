#pragma once
/// Changes a pod's attributes in one go: each level is built once, however many rules add to it.

#include <map>
#include <vector>

#include "value/value.h"

namespace fettle::workloads {

class PodEdit {
 public:
  explicit PodEdit(Value before) : before_(std::move(before)) {}

  /// The attributes before the edit.
  const Value& before() const { return before_; }
  /// The last value for a field counts; null removes the field.
  void set(const Name& field, Value value) { fields_.push_back({field, std::move(value)}); }
  /// The same within a dict, such as the pod's own labels. Not together with `set` of that dict.
  void set_in(const Name& field, const Name& key, Value value) {
    inner_[field].push_back({key, std::move(value)});
  }
  Value made();

 private:
  Value before_;
  std::vector<Entry> fields_;
  std::map<Name, std::vector<Entry>> inner_;
};

}  // namespace fettle::workloads
