#pragma once
/// What an act changes about a thing, field by field, as it may be told.

#include <string>
#include <vector>

#include "core/step.h"
#include "workplace/workplace.h"

namespace fettle {

struct FieldChange {
  std::string field;  ///< a path of an attribute
  Value before;       ///< as found when the world had changed, else as applied; null: none
  Value after;        ///< as wanted; null: none
};

/// The attributes of a resource as they may be told.
Value shown(const Workplace& place, const Value& attributes);

/// Of a step that changes what was there before; empty for what is new or goes.
std::vector<FieldChange> changes_of(const Workplace& place, const Step& step);

/// The same of what a look found: `{field: {"current", "desired"}}`.
std::vector<FieldChange> changes_of(const Workplace& place, const Value& found);

}  // namespace fettle
