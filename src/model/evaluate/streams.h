#pragma once
/// Values that arrive one by one: from relations that still grow to relations, loops and
/// comprehensions.
///
/// A loop over a relation could wait until the relation is frozen. Most models would then stand
/// still: the body of one loop makes the members over which another loop runs, or the same one. And
/// each freeze is a guess (`relations.h`): the fewer are needed, the fewer go wrong. A loop that
/// treats each member by itself does not need to know which one is the last. So the members of a
/// relation are delivered to a *sink* as they come:
///
///     host.files += template.files               # a relation is fed by a relation
///     for host in net.hosts:                     # a loop: its body, once for each element
///     host.names = [h.name for h in net.hosts]   # a comprehension on the way to one of these
///
/// A *producer* is a task that evaluates one expression for a sink (`start`). It delivers the
/// members that are there, and listens to the relation when that may still grow. On the way to a
/// relation, each item of a list expression has a producer of its own. A comprehension is a sink
/// between the two ends. Everything else is evaluated as a whole and delivered at once.
///
/// Invariants:
/// * Each member of a relation reaches each listener once: a producer listens before it delivers,
///   and delivers only as many members as there were at that moment.
/// * `Sink::open` counts the producers, and the tasks that carry one element, that may still
///   deliver. When the last one ends, the sink closes and releases its promise to the relation that
///   it fills. So a relation that another one feeds is not frozen by a guess before that other one,
///   except in a circle.
/// * A relation that is frozen ends its listeners.
/// * A chain of relations does not use up the stack: beyond 200 nested deliveries, an element goes
///   through the queue.
/// * Elements have the order of their arrival.

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

  /// A sink for values. It is given back after the last one.
  Sink& make_sink() { return *sinks_.take(); }
  /// Starts to deliver the values of an expression; those that are there already, at once. `list`:
  /// the list or comprehension that contains it, if any; the expression need not be a list itself.
  void start(const Expr* expr, Frame* frame, Sink* sink, const Expr* list = nullptr);
  bool deliver(Sink& sink, const Datum& value, Place at);
  /// One producer has ended.
  void end(Sink& sink) {
    if (--sink.open == 0)
      close(sink);
  }
  /// Gives back closed sinks: between tasks nobody looks at them.
  void give_back();

  Step execute_stream(Task& task);
  Step execute_member(Task& task);
  Step execute_guard(Task& task);
  Step execute_element(Task& task);

 private:
  struct Relation {
    Instance* owner = nullptr;
    uint32_t slot = 0;
  };
  void stream_comprehension(Task& task, const Comprehension& node);
  Step stream_items(Task& task, const ListExpr& list);
  Step find_relation(Task& task, const Expr* expr, Relation& found);
  Step stream_relation(Task& task, const Expr* expr, Relation relation);
  Step stream_value(Task& task, const Expr* expr);
  Step refuse(const Sink& sink, const Expr* expr, const Datum& value);
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
