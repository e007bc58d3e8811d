#pragma once
/// The changes that an act makes to a thing, field by field, as they may be shown.

#include <string>
#include <vector>

#include "core/step.h"
#include "workplace/workplace.h"

namespace fettle {

struct FieldChange {
  std::string field;  ///< a path of an attribute
  Value before;       ///< as found if the world had changed, else as applied; null: none
  Value after;        ///< as wanted; null: none
};

/// The attributes of a resource as they may be shown.
Value shown(const Workplace& place, const Attributes& attributes);
Value shown(const Workplace& place, const Value& value);

/// The changes of a step to a thing that was there before. Empty: the thing is new or goes.
std::vector<FieldChange> changes_of(const Workplace& place, const Step& step);

/// The same from what a look found: `{field: {"current", "desired"}}`.
std::vector<FieldChange> changes_of(const Workplace& place, const Value& found);

}  // namespace fettle
