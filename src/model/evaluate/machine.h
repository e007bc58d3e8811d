#pragma once
/// Runs a program. Statements have no order: each is a task that waits for write-once cells. Only
/// lists and options of relations need a guess when they are complete: then they are frozen.
///
/// A task evaluates its expression from scratch whenever all cells it missed are there. What must
/// not happen twice (a constructor, a plugin call) is remembered in the task (`Memo`).

#include <functional>

#include "model/evaluate/contributions.h"
#include "model/evaluate/diagnosis.h"
#include "model/evaluate/place_table.h"
#include "model/evaluate/plugin.h"
#include "model/evaluate/schedule.h"
#include "model/evaluate/underway.h"
#include "model/values/numbers.h"
#include "model/values/regex.h"

namespace fettle::model {

constexpr int optional_rank = 61;

class Machine {
 public:
  Machine(Program& program, std::function<void(std::string_view)> print)
      : program_(program), print_(std::move(print)) {}

  /// Everything; empty when the model is good.
  std::vector<Failure> run();

  Program& program() { return program_; }
  void print(std::string_view line) { print_(line); }
  std::span<Instance* const> instances() const { return instances_.all(); }
  const Contributions& contributions() const { return contributions_; }
  /// What a plugin gives to the current task it will give to nobody else.
  void allocate(const Datum& value) { contributions_.allocate(value, now_.by); }
  /// For defaults and typedefs: a value against a type.
  bool accepts(const Type& type, const Datum& value, Reason& why);

  Datum make_text(std::string_view text);
  Datum make_list(std::span<const Datum> items);
  Datum make_dict(std::span<const DictEntry> entries);
  /// An attribute of an instance for a plugin; waits for it.
  Step read_attribute(Instance* instance, uint32_t slot, Datum& value, Place at);
  /// The same for one that need not be there: null for an option without a value. False: it waits
  /// or failed.
  bool read_or_null(Instance* instance, uint32_t slot, Datum& value);
  /// A variable that a plugin's call sees; `Step::fail` when there is none of that name.
  Step read_visible(const Call& node, Frame* frame, std::string_view name, Datum& value);
  /// Whether the task that is under way misses something, for which it will come again.
  bool is_waiting() const { return now_.task->missing > 0; }
  Budget& budget() { return *program_.budget; }

 private:
  // evaluate.cc
  Step evaluate(const Expr* expr, Frame* frame, Datum& value, const Destination* to = nullptr) {
    const Step step = evaluate_node(expr, frame, value, to);
    if (step == Step::fail) [[unlikely]]
      errors_.tell(expr);
    return step;
  }
  Step evaluate_node(const Expr* expr, Frame* frame, Datum& value, const Destination* to);
  Step evaluate_name(const Name& name, Frame* frame, Datum& value);
  Cell* variable(const Name& name, Frame* frame);
  Step evaluate_attribute(const AttributeRef& ref, Frame* frame, Datum& value);
  bool refuse_attribute(const Expr* object, Symbol name, const Datum& value, Place at,
                        uint32_t& slot);
  Step evaluate_format(const Format& format, Frame* frame, Datum& value);
  Step evaluate_list(const ListExpr& list, Frame* frame, Datum& value, const Destination* to);
  Step evaluate_dict(const DictExpr& dict, Frame* frame, Datum& value);
  Step evaluate_comprehension(const Comprehension& node, Frame* frame, Datum& value);
  std::vector<Frame*> frames_of(const Comprehension& node, Frame* frame, const List& list);
  Step comprehend(const Comprehension& node, Frame* inner, std::vector<Datum>& items);
  std::string refused_operands(Operator op, const Datum& a, const Datum& b) const;
  Step evaluate_binary(const Binary& node, Frame* frame, Datum& value);
  Step evaluate_logic(const Binary& node, Frame* frame, Datum& value);
  Step evaluate_defined(const IsDefined& node, Frame* frame, Datum& value);
  Step evaluate_map_lookup(const MapLookup& node, Frame* frame, Datum& value);
  Step evaluate_call(const Call& node, Frame* frame, Datum& value);
  Step call_plugin(const Call& node, Frame* frame, Datum& value);  // plugin_call.cc
  Step cast(const Expr& node, std::string_view to, const Datum& from, Datum& value);
  Step as_key(const Expr& node, const Attribute& attribute, Datum& value);
  Step lookup(Entity* entity, std::vector<std::pair<Symbol, Datum>> keys, const Expr* node,
              Datum& value);
  Step short_lookup(const ShortLookup& node, Frame* frame, Datum& value);
  Step evaluate_lookup(Entity* entity, std::span<const Argument> arguments, Frame* frame,
                       const Expr* node, std::vector<std::pair<Symbol, Datum>> keys, Datum& value);
  Step read_cell(Cell& cell);
  /// Remembers that the current task read a relation, or found an instance by an index.
  void remember_reading(const Instance* instance, uint32_t slot, Place at) {
    if (!now_.is_probing)
      contributions_.read(instance, slot, now_.by, at);
  }
  Step read_slot(Instance* owner, uint32_t slot, Datum& value, Place at);
  bool match(const Typedef& constraint, const Datum& value, Reason& why);

  // construct.cc
  class Values;
  bool find_slots(const Constructor& node, const Entity& entity);
  Step unpack(const Constructor& node, const Entity& entity, Frame* frame, Values& values);
  Step find_keys(const Constructor& node, const Entity& entity, Frame* frame, const Destination* to,
                 Values& values);
  std::string key_text(std::span<const std::pair<Symbol, Datum>> keys) const;
  std::string no_key_text(Symbol name, const Datum& value) const;
  Step find_instance(const Constructor& node, Entity& entity, Values& values, Instance*& found);
  void enter(Instance* instance, bool is_new);
  bool give_argument(const Constructor& node, const Argument& argument, Instance* instance,
                     uint32_t slot, Frame* frame);
  bool fill(const Constructor& node, Instance* instance, Frame* frame, Values& values);
  void select(Instance* instance);
  Step construct(const Constructor& node, Frame* frame, Datum& value, const Destination* to);
  Entity* entity_of(const Constructor& node, const Destination* to);

  // assign.cc
  bool set_slot(Instance* owner, uint32_t slot, const Datum& value, const Writer& writer);
  bool set_any(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_all(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_empty(Instance* owner, uint32_t slot, Place at);
  bool set_value(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool refuse_type(const Attribute& attribute, const Datum& value, Place at);
  bool add_item(Instance* owner, uint32_t slot, const Datum& value, Place at, bool sets_inverse);
  bool tell_listeners(const Delayed& delayed, const Datum& value, Place at);
  bool is_member(Delayed& delayed, Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_inverse(Instance* owner, const Attribute& attribute, Instance* other, Place at);
  bool set_cell(Cell& cell, const Datum& value, Place at);

  // run.cc
  void wait_on(Cell& cell, bool wants_item = false) {
    if (now_.task != nullptr && !now_.is_probing)
      schedule_.wait(*now_.task, cell, wants_item);
  }
  void set(Cell& cell, const Datum& value, Place at);
  void wake_for_item(Cell& cell);
  void freeze(Delayed& delayed);
  bool freeze_some();
  bool run_ready();
  bool run_task(Task& task);
  void give_back();
  bool check_defaults();

  // finish.cc
  void finish(std::vector<Failure>& failures);
  void finish_instance(const Instance& instance, std::vector<Failure>& failures);
  static const Expr* awaited(const Task& task);

  // execute.cc
  Frame* new_frame(size_t cells);
  Frame* new_frame(Frame& parent, size_t cells);
  Frame* new_frame(Instance& self, size_t cells);
  Frame* new_element_frame(Frame& around, const Datum& element, size_t cells);
  bool is_ready(const Stmt& statement, Frame* frame);
  void begin(Task& task);
  void emit(const Block& block, Frame* frame, bool is_reversed);
  Step execute(Task& task);
  Step execute_statement(Task& task);
  Step execute_assign_attribute(Task& task, const AssignAttribute& node);
  Step execute_if(Task& task, const If& node);
  Step execute_for(Task& task, const For& node);
  Step execute_implement(Task& task);
  Frame* frame_of(Task& task);
  Step execute_stream(Task& task);
  void make_promises(Task& task, const Block& block);
  Step probe(const Foreseen& foreseen, Task& task);
  Step evaluate_outside(const Foreseen& foreseen, Frame* frame, Datum& object);
  Step promise_for(const Foreseen& foreseen, Frame* frame, Promises*& held);
  Step execute_promise(Task& task);

  // stream.cc
  void stream(const Expr* expr, Frame* frame, Sink* sink, const Expr* list = nullptr);
  bool deliver(Sink& sink, const Datum& value, Place at);
  bool gather(Instance* owner, uint32_t slot, const Datum& value, const Writer& writer);
  Step execute_member(Task& task);
  bool deliver_all(Sink& sink, const Datum& value, Place at);
  bool deliver_item(Sink& sink, const Datum& value, Place at);
  void deliver_later(Sink& sink, const Datum& value, Place at);
  void close(Sink& sink);
  Step execute_guard(Task& task);

  /// When the budget refuses: the task that works now is the place.
  Step over() { return errors_.fail(now_.task->at, budget().refusal(), 0); }

  Program& program_;
  std::function<void(std::string_view)> print_;
  Diagnosis errors_{program_};
  Contributions contributions_{program_.is_for_version};
  Instances instances_{program_};
  Relations relations_{program_.arena};
  Schedule schedule_{program_.arena, instances_, relations_};
  Underway now_;
  ArenaPool<Sink> sinks_{program_.arena};
  std::vector<Sink*> closed_;  ///< given back before the next task runs
  int delivering_ = 0;         ///< relations that hand on an element, nested
  struct Lookup {
    std::string keys;
    const Expr* node;
  };
  std::unordered_map<const Task*, Lookup> lookups_;  ///< what a task looks for in vain
  Regexes regexes_;
  PlaceTable places_;          ///< where cells were set
  std::vector<Key> keys_;      ///< by index, of the instance being made
  std::vector<Datum> values_;  ///< of constructors under way, by slot
};

}  // namespace fettle::model
