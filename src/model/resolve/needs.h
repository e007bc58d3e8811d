#pragma once
/// The names without which an expression cannot begin.

#include <vector>

#include "model/program/program.h"

namespace fettle::model {

/// The names that an expression reads in any case, without those of branches and bodies. `reader`
/// computes with them.
void collect_needs(const Expr* expr, const Expr* reader, std::vector<Need>& needs);

/// The first of them that stands for nothing; without a name if all are there. `is_gradual`: the
/// reader takes the elements of a list one by one, and reads them itself.
Need missing_in(const Expr* expr, bool is_gradual);

}  // namespace fettle::model
