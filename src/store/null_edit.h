#pragma once
/// The edit of who acts or looks and leaves no record: everything may be written, nothing is kept.

#include "store/edit.h"

namespace fettle {

class NullEdit : public Edit {
 public:
  explicit NullEdit(Name environment) : environment_(std::move(environment)) {}
  const Name& environment() const override { return environment_; }
  uint64_t number() const override { return 1; }
  Status write(std::span<const Change>) override { return {}; }
  Status put_environment(const Environment&) override { return {}; }
  Status put_note(std::string_view, const Value&) override { return {}; }
  Status begin_removal() override { return {}; }
  Status remove_environment() override { return {}; }

 private:
  Name environment_;
};

}  // namespace fettle
