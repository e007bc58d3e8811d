#pragma once
/// Checks values against types with the conditions of typedefs, which are expressions.

#include "model/evaluate/state.h"
#include "model/values/regex.h"

namespace fettle::model {

class Evaluator;

class TypeChecks {
 public:
  TypeChecks(State& state, Evaluator& evaluator)
      : program_(state.program), errors_(state.errors), now_(state.now), evaluator_(evaluator) {}

  /// Whether a value has a type. If not, `why` says what is wrong.
  bool accepts(const Type& type, const Datum& value, Reason& why);

 private:
  bool match(const Typedef& constraint, const Datum& value, Reason& why);

  Program& program_;
  Diagnosis& errors_;
  Underway& now_;
  Evaluator& evaluator_;
  Regexes regexes_;
};

}  // namespace fettle::model
