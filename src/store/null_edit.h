#pragma once
/// The edit of a run that has no memory, or only looks: it keeps nothing.

#include <algorithm>

#include "base/invariant.h"
#include "store/edit.h"

namespace fettle {

class NullEdit : public Edit {
 public:
  /// A run that looks reports events and writes nothing else.
  enum class Use : uint8_t { acts, looks };
  NullEdit(Name environment, Use use) : environment_(std::move(environment)), use_(use) {}
  const Name& environment() const override { return environment_; }
  uint64_t number() const override { return 1; }
  Status write(std::span<const Change> changes) override {
    INVARIANT(use_ == Use::acts || std::ranges::all_of(changes, [](const Change& change) {
                return change.type == Change::event;
              }));
    return {};
  }
  Status put_environment(const Environment&) override { return unless_it_looks(); }
  Status put_note(std::string_view, const Value&) override { return unless_it_looks(); }
  Status begin_removal() override { return unless_it_looks(); }
  Status remove_environment() override { return unless_it_looks(); }

 private:
  Status unless_it_looks() const {
    if (use_ == Use::looks)
      return Error(Blame::bug, "who only looks writes nothing");
    return {};
  }

  Name environment_;
  Use use_;
};

}  // namespace fettle
