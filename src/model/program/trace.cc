/// Failures as text, in the form that users of the language know.

#include "base/text.h"
#include "model/program/program.h"

namespace fettle::model {

std::string Program::location(Place at) const {
  std::string made = cat(files[at.file].name, ":", at.line);
  if (at.is_exact)
    made += cat(":", static_cast<uint32_t>(at.column));
  return made;
}

Failure too_much(const Program& program) {
  const Budget& budget = *program.budget;
  const bool is_out_of_steps = budget.limits().steps != 0 && !budget.is_out_of_memory() &&
                               budget.steps() > budget.limits().steps;
  return {user_error(cat("the model cannot be compiled: ", budget.refusal(),
                         budget.is_out_of_memory() ? "; `--memory` allows more"
                         : is_out_of_steps         ? "; `--steps` allows more"
                                                   : "")),
          Importance::first};
}

std::string trace_of(const Failure& failure, size_t indent) {
  if (failure.reasons.empty())
    return cat(std::string(indent, ' '), failure.error.message);
  std::string made;
  for (size_t i = 0; i < failure.reasons.size(); ++i) {
    const Reason& reason = failure.reasons[i];
    if (i > 0)
      made += cat("\n", std::string(indent + 2 * (i - 1), ' '), "caused by:\n");
    made += cat(std::string(indent + 2 * i, ' '), reason.message);
    if (!reason.reported.empty())
      made += cat(" (reported in ", reason.reported, ")");
  }
  return made;
}

}  // namespace fettle::model
