#pragma once
/// An edit that reports each record when it is written, so that whoever keeps the records in memory
/// need not read them again.

#include <functional>

#include "store/edit.h"

namespace fettle {

class ToldEdit : public Edit {
 public:
  using Tell = std::function<void(const Key&, const RecordPointer&)>;
  ToldEdit(Edit& inner, Tell tell) : inner_(inner), tell_(std::move(tell)) {}
  const Name& environment() const override { return inner_.environment(); }
  uint64_t number() const override { return inner_.number(); }
  Status write(std::span<const Change> changes) override {
    TRY(inner_.write(changes));
    for (const Change& change : changes)
      if (change.type == Change::record || change.type == Change::forget)
        tell_(change.key, change.type == Change::record ? change.written : nullptr);
    return {};
  }
  Status put_environment(const Environment& environment) override {
    return inner_.put_environment(environment);
  }
  Status put_note(std::string_view name, const Value& value) override {
    return inner_.put_note(name, value);
  }
  Status begin_removal() override { return inner_.begin_removal(); }
  Status remove_environment() override { return inner_.remove_environment(); }

 private:
  Edit& inner_;
  Tell tell_;
};

}  // namespace fettle
