#pragma once
/// An instance as a Starlark function sees it.

#include "model/model.h"
#include "starlark/starlark.h"

namespace fettle::model {

/// A structure of the attributes. Relations to one are structures three levels deep, relations to
/// many are lists of structures at the first level. What is unknown is left out, and `has_unknown`
/// is set.
starlark::Value view_of(starlark::HeapAccess heap, const Model& model, const Instance& instance,
                        bool& has_unknown);

}  // namespace fettle::model
