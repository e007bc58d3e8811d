#pragma once
/// Calls in a model: of a plugin, or of a type (a cast).
///
/// A plugin outside of the program is expensive to call: each call is a message there and back. So
/// such a call is not made at once. Its task waits, and when no task is ready any more, all that
/// were asked for are made together. The result is put into the memory of the task, as if it had
/// made the call itself. Relations are frozen after that, so a model is the same either way.

#include <map>
#include <tuple>

#include "model/evaluate/plugin.h"
#include "model/evaluate/state.h"

namespace fettle::model {

class Evaluator;
class PluginContext;

class Calls {
 public:
  Calls(State& state, Evaluator& evaluator, PluginContext& context)
      : program_(state.program),
        errors_(state.errors),
        schedule_(state.schedule),
        now_(state.now),
        evaluator_(evaluator),
        context_(context) {}

  Step call(const Call& node, Frame* frame, Datum& value);
  /// Makes the calls that wait. False: there is none, or the compile has failed.
  bool make_waiting();

 private:
  using CallKey = std::tuple<uint32_t, const Call*, const Frame*>;  ///< first the task's number
  static CallKey key_of(const WaitingCall& waiting) {
    return {waiting.task->number, &waiting.call.node, waiting.call.frame};
  }

  Step call_type(const Call& node, Frame* frame, Datum& value);
  Step call_plugin(const Call& node, Frame* frame, Datum& value);
  Step call_alone(const Plugin& plugin, PluginArguments& given, PluginCall& call, Datum& value);
  Step call_later(const Plugin& plugin, PluginArguments& given, PluginCall& call, Datum& value);
  void settle(WaitingCall& waiting);
  bool report_failed(const WaitingCall& waiting);
  Step report(const Call& node, std::vector<Reason> reasons, Importance importance);

  Program& program_;
  Diagnosis& errors_;
  Schedule& schedule_;
  const Underway& now_;
  Evaluator& evaluator_;
  PluginContext& context_;
  std::vector<WaitingCall> waiting_;
  /// Calls that were made together and failed, until their tasks meet them again.
  std::map<CallKey, std::pair<std::vector<Reason>, Importance>> failed_;
};

}  // namespace fettle::model
