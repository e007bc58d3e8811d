#include "core/rename.h"

#include "core/open_payload.h"
#include "value/leaves.h"

namespace fettle {
namespace {

class Renamer {
 public:
  Renamer(const Renames& renames, Name environment)
      : renames_(renames), environment_(std::move(environment)) {}

  bool key(Key& key) const {
    const auto found = renames_.find(key);
    if (found == renames_.end())
      return false;
    key = found->second;
    return true;
  }

  bool resource(Resource& resource) const {
    bool is_other = key(resource.key);
    for (Need& need : resource.needs)
      for (Key& one : need.keys)
        is_other |= key(one);
    return payload(resource.attributes) || is_other;
  }

  bool record(Record& record) const {
    bool is_other = record.applied && resource(record.applied.edit());
    if (record.attempt)
      is_other |= resource(record.attempt.edit().resource.edit());
    for (Version& version : record.acted_on)
      is_other |= key(version.key);
    return payload(record.outputs) || is_other;
  }

  template <typename Kind>
  bool payload(Payload<Kind>& payload) const {
    Value other = dict_of(payload);
    if (!value(other))
      return false;
    payload = std::move(other);
    return true;
  }

  /// Holes name the outputs that fill them.
  bool value(Value& value) const {
    if (!value.has_deferred())
      return false;
    Value other = with_leaves(value, [this](const Value& leaf) { return with_holes(leaf); });
    if (other == value)
      return false;
    value = std::move(other);
    return true;
  }

 private:
  std::optional<Value> with_holes(const Value& leaf) const {
    if (!leaf.is_deferred())
      return std::nullopt;
    bool is_other = false;
    std::vector<Part> parts(leaf.parts().begin(), leaf.parts().end());
    for (Part& part : parts) {
      Key named{environment_, part.hole.kind, part.hole.name};
      if (!part.is_hole() || !key(named))
        continue;
      part.hole.name = named.name;
      is_other = true;
    }
    return is_other ? std::optional(Value::deferred(std::move(parts), leaf.text_form()))
                    : std::nullopt;
  }

  const Renames& renames_;
  Name environment_;
};

}  // namespace

Value renamed(const Value& value, const Renames& renames, const Name& environment) {
  Value other = value;
  Renamer(renames, environment).value(other);
  return other;
}

Attributes renamed(const Attributes& attributes, const Renames& renames, const Name& environment) {
  Attributes other = attributes;
  Renamer(renames, environment).payload(other);
  return other;
}

RecordPointer renamed(const RecordPointer& record, const Renames& renames) {
  if (renames.empty())
    return record;
  auto other = std::make_shared<Record>(*record);
  return Renamer(renames, renames.begin()->first.environment).record(*other)
             ? RecordPointer(std::move(other))
             : record;
}

}  // namespace fettle
