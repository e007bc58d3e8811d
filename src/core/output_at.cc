#include "core/output_at.h"

namespace fettle {

const Value* shown_at(const Value& attributes, std::string_view path) {
  const Value* found = attributes.bool_at("purged") ? nullptr : follow(attributes, path.substr(1));
  return found == nullptr || found->is_null() || found->has_deferred() ? nullptr : found;
}

const Value* output_at(const Record& record, std::string_view path) {
  if (!path.starts_with('@'))
    return follow(record.outputs, path);
  if (!record.applied || record.applied->attributes.bool_at("purged"))
    return nullptr;
  const Value* shown = shown_at(record.applied->attributes, path);
  return shown != nullptr ? shown : follow(record.outputs, path.substr(1));
}

}  // namespace fettle
