#pragma once
/// Calls in a model: of a plugin, or of a type (a cast).

#include "model/evaluate/state.h"

namespace fettle::model {

class Evaluator;
class PluginContext;

class Calls {
 public:
  Calls(State& state, Evaluator& evaluator, PluginContext& context)
      : program_(state.program),
        errors_(state.errors),
        now_(state.now),
        evaluator_(evaluator),
        context_(context) {}

  Step call(const Call& node, Frame* frame, Datum& value);

 private:
  Step call_type(const Call& node, Frame* frame, Datum& value);
  Step call_plugin(const Call& node, Frame* frame, Datum& value);

  Program& program_;
  Diagnosis& errors_;
  const Underway& now_;
  Evaluator& evaluator_;
  PluginContext& context_;
};

}  // namespace fettle::model
