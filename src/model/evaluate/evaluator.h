#pragma once
/// Evaluates expressions. Each is evaluated from scratch whenever all cells that it missed are
/// there. Whatever must not happen twice (a constructor, a plugin call) is remembered in the task
/// (`Memo`).

#include "model/evaluate/state.h"

namespace fettle::model {

class Calls;
class Cells;
class Constructors;
class Lookups;

class Evaluator {
 public:
  Evaluator(State& state, Cells& cells, Lookups& lookups, Calls& calls, Constructors& constructors)
      : program_(state.program),
        errors_(state.errors),
        contributions_(state.contributions),
        relations_(state.relations),
        schedule_(state.schedule),
        now_(state.now),
        cells_(cells),
        lookups_(lookups),
        calls_(calls),
        constructors_(constructors) {}

  /// `to`: the relation to which the value goes, if any.
  Step evaluate(const Expr* expr, Frame* frame, Datum& value, const Destination* to = nullptr) {
    const Step step = evaluate_node(expr, frame, value, to);
    if (step == Step::fail) [[unlikely]]
      errors_.tell(expr);
    return step;
  }
  Step evaluate_name(const Name& name, Frame* frame, Datum& value);
  /// Finds the slot of an attribute. True: the value has no attribute of that name.
  bool refuse_attribute(const Expr* object, Symbol name, const Datum& value, Place at,
                        uint32_t& slot);

 private:
  Step evaluate_node(const Expr* expr, Frame* frame, Datum& value, const Destination* to);
  Step evaluate_attribute(const AttributeRef& ref, Frame* frame, Datum& value);
  Step evaluate_negation(const Negation& node, Frame* frame, Datum& value);
  Step evaluate_conditional(const Conditional& node, Frame* frame, Datum& value,
                            const Destination* to);
  Step evaluate_format(const Format& format, Frame* frame, Datum& value);
  Step evaluate_list(const ListExpr& list, Frame* frame, Datum& value, const Destination* to);
  Step evaluate_dict(const DictExpr& dict, Frame* frame, Datum& value);
  Step evaluate_comprehension(const Comprehension& node, Frame* frame, Datum& value);
  std::vector<Frame*> frames_of(const Comprehension& node, Frame* frame, const List& list);
  Step comprehend(const Comprehension& node, Frame* inner, std::vector<Datum>& items);
  Step evaluate_defined(const IsDefined& node, Frame* frame, Datum& value);

  // operators.cc
  std::string refused_operands(Operator op, const Datum& a, const Datum& b) const;
  Step evaluate_binary(const Binary& node, Frame* frame, Datum& value);
  Step evaluate_logic(const Binary& node, Frame* frame, Datum& value);

  Budget& budget() { return *program_.budget; }

  Program& program_;
  Diagnosis& errors_;
  Contributions& contributions_;
  Relations& relations_;
  Schedule& schedule_;
  const Underway& now_;
  Cells& cells_;
  Lookups& lookups_;
  Calls& calls_;
  Constructors& constructors_;
};

}  // namespace fettle::model
