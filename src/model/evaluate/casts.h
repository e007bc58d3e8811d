#pragma once
/// `int(x)`, `float(x)`, `bool(x)` and `string(x)`, as Python reads what they are given.

#include "model/evaluate/diagnosis.h"

namespace fettle::model {

/// `node` is where it fails.
Step cast(Program& program, Diagnosis& errors, const Expr& node, std::string_view to,
          const Datum& from, Datum& value);

}  // namespace fettle::model
