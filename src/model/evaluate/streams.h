#pragma once
/// Values that arrive one by one: from relations that still grow to relations, loops and
/// comprehensions, without waiting for a freeze.

#include <vector>

#include "model/evaluate/state.h"

namespace fettle::model {

class Assignment;
class Cells;
class Evaluator;
class Statements;
class Tasks;

class Streams {
 public:
  Streams(State& state, Cells& cells, Evaluator& evaluator, Assignment& assignment,
          Statements& statements, Tasks& tasks)
      : program_(state.program),
        errors_(state.errors),
        contributions_(state.contributions),
        relations_(state.relations),
        schedule_(state.schedule),
        now_(state.now),
        cells_(cells),
        evaluator_(evaluator),
        assignment_(assignment),
        statements_(statements),
        tasks_(tasks) {}

  /// Where values may go; it is given back after the last one.
  Sink& make_sink() { return *sinks_.take(); }
  /// Starts to deliver the values of an expression; those that are there already at once.
  /// `list`: the list or the comprehension whose element it is, which need not be a list itself.
  void start(const Expr* expr, Frame* frame, Sink* sink, const Expr* list = nullptr);
  bool deliver(Sink& sink, const Datum& value, Place at);
  /// One producer is done.
  void end(Sink& sink) {
    if (--sink.open == 0)
      close(sink);
  }
  /// Sinks that were closed; between tasks nobody looks at them.
  void give_back();

  Step execute_stream(Task& task);
  Step execute_member(Task& task);
  Step execute_guard(Task& task);
  Step execute_element(Task& task);

 private:
  bool gather(Instance* owner, uint32_t slot, const Datum& value, const Writer& writer);
  bool deliver_all(Sink& sink, const Datum& value, Place at);
  bool deliver_item(Sink& sink, const Datum& value, Place at);
  void deliver_later(Sink& sink, const Datum& value, Place at);
  void close(Sink& sink);

  Program& program_;
  Diagnosis& errors_;
  Contributions& contributions_;
  Relations& relations_;
  Schedule& schedule_;
  Underway& now_;
  Cells& cells_;
  Evaluator& evaluator_;
  Assignment& assignment_;
  Statements& statements_;
  Tasks& tasks_;
  ArenaPool<Sink> sinks_{program_.arena};
  std::vector<Sink*> closed_;
  int delivering_ = 0;  ///< relations that hand on an element, nested
};

}  // namespace fettle::model
