#pragma once
/// The constructed instances, and the keys under which indexes have them.

#include <unordered_set>

#include "model/evaluate/task.h"

namespace fettle::model {

class Instances {
 public:
  explicit Instances(Program& program) : program_(program) {}

  Instance* make(Entity* entity, Place at, uint32_t depth, Contributor maker);
  std::span<Instance* const> all() const { return instances_; }
  /// The instance of a number plus one, which is the name of a contributor.
  Instance* of(Contributor number) const { return instances_[number - 1]; }

  /// Notes that an implementation was chosen for the instance.
  void select(const Instance& instance) { selected_[instance.number] = true; }
  bool is_selected(const Instance& instance) const { return selected_[instance.number]; }
  /// Whether the implementation has not run for the instance. From now on it has.
  bool begins(const Implementation* implementation, const Instance* instance);

  /// Gives an unknown the number that distinguishes it from others as a key.
  void identify(Datum& value) {
    if (value.tag == Tag::unknown && value.integer == 0)
      value.integer = ++unknowns_;
  }
  void append_key_of(std::string& key, const Datum& datum) const;

 private:
  Program& program_;
  std::vector<Instance*> instances_;
  std::vector<bool> selected_;
  std::unordered_set<Memo, MemoHash> begun_;  ///< implementation and instance
  int64_t unknowns_ = 0;                      ///< that got a number
};

}  // namespace fettle::model
