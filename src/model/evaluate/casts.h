#pragma once
/// `int(x)`, `float(x)`, `bool(x)` and `string(x)`, which read values as Python does.

#include "model/evaluate/diagnosis.h"

namespace fettle::model {

/// `node` is the place of failures.
Step cast(Program& program, Diagnosis& errors, const Expr& node, std::string_view to,
          const Datum& from, Datum& value);

}  // namespace fettle::model
