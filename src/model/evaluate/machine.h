#pragma once
/// Runs a program. Statements have no order: each is a task that waits for write-once cells. Only
/// lists and options of relations need a guess when they are complete: then they are frozen.
///
/// A task evaluates its expression from scratch whenever all cells it missed are there. What must
/// not happen twice (a constructor, a plugin call) is remembered in the task (`Memo`).

#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <unordered_set>

#include "model/evaluate/place_table.h"
#include "model/evaluate/plugin.h"
#include "model/evaluate/task.h"
#include "model/program/instance.h"
#include "model/values/numbers.h"
#include "model/values/pool.h"
#include "model/values/regex.h"

namespace fettle::model {

constexpr int optional_rank = 61;

enum class Step : uint8_t { done, wait, fail };

/// Who still has to say in which statement a failure happened.
///   itself     the expression that failed
///   above      the one around it, of which `unit` holds
///   unit       the nearest that the original computes on its own, else the statement
///   reader     the nearest one that computes with the value
///   statement  the statement
enum class Telling : uint8_t { nobody, itself, above, unit, reader, statement };

/// Who writes a value, for errors and for the place that a cell remembers.
struct Writer {
  const Expr* expr = nullptr;       ///< the constructor, or
  const Stmt* statement = nullptr;  ///< the assignment
  bool is_key = false;              ///< an argument that an index needed
  Place at;                         ///< of the value
};

class Machine {
 public:
  Machine(Program& program, std::function<void(std::string_view)> print)
      : program_(program), print_(std::move(print)) {}

  /// Everything; empty when the model is good.
  std::vector<Failure> run();

  Program& program() { return program_; }
  void print(std::string_view line) { print_(line); }
  std::span<Instance* const> instances() const { return instances_; }
  const std::deque<Repetition>& repetitions() const { return repetitions_; }
  std::span<const Reading> readings() const { return readings_; }
  std::span<const Allocation> allocations() const { return allocations_; }
  /// What a plugin gives to the current task it will give to nobody else.
  void allocate(const Datum& value) { allocations_.push_back({by_, value}); }
  /// For defaults and typedefs: a value against a type.
  bool accepts(const Type& type, const Datum& value, std::string& why);

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
  Task* current() { return current_; }
  Budget& budget() { return *program_.budget; }

 private:
  // evaluate.cc
  Step evaluate(const Expr* expr, Frame* frame, Datum& value, const Destination* to = nullptr) {
    const Step step = evaluate_node(expr, frame, value, to);
    if (step == Step::fail) [[unlikely]]
      report(expr);
    return step;
  }
  Step evaluate_node(const Expr* expr, Frame* frame, Datum& value, const Destination* to);
  Step evaluate_name(const Name& name, Frame* frame, Datum& value);
  Cell* variable(const Name& name, Frame* frame);
  Step name_not_found(const Name& name);
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
  Step lookup(Entity* entity, std::vector<std::pair<Symbol, Datum>> keys, const Expr* node,
              Datum& value);
  Step short_lookup(const ShortLookup& node, Frame* frame, Datum& value);
  Step evaluate_lookup(Entity* entity, std::span<const Argument> arguments, Frame* frame,
                       const Expr* node, std::vector<std::pair<Symbol, Datum>> keys, Datum& value);
  Step read_cell(Cell& cell);
  /// Remembers that the current task read a relation, or found an instance by an index.
  void remember_reading(const Instance* instance, uint32_t slot, Place at) {
    if (program_.is_for_version && !is_probing_)
      readings_.push_back({instance, slot, by_, at});
  }
  Step read_slot(Instance* owner, uint32_t slot, Datum& value, Place at);
  bool match(const Typedef& constraint, const Datum& value, std::string& why);

  // construct.cc
  class Values;
  bool find_slots(const Constructor& node, const Entity& entity);
  Step unpack(const Constructor& node, const Entity& entity, Frame* frame, Values& values);
  Step refuse_unpacking(const Argument& argument);
  Step find_keys(const Constructor& node, const Entity& entity, Frame* frame, const Destination* to,
                 Values& values);
  std::string key_text(std::span<const std::pair<Symbol, Datum>> keys) const;
  std::string no_key_text(Symbol name, const Datum& value) const;
  void identify(Datum& value);
  void append_key_of(std::string& key, const Datum& datum);
  Step find_instance(const Constructor& node, Entity& entity, Values& values, Instance*& found);
  void enter(Instance* instance, bool is_new);
  bool give_argument(const Constructor& node, const Argument& argument, Instance* instance,
                     uint32_t slot, Frame* frame);
  bool fill(const Constructor& node, Instance* instance, Frame* frame, Values& values);
  void select(Instance* instance);
  Step construct(const Constructor& node, Frame* frame, Datum& value, const Destination* to);
  Entity* entity_of(const Constructor& node, const Destination* to);
  Instance* new_instance(Entity* entity, Place at, uint32_t depth);

  // assign.cc
  bool set_slot(Instance* owner, uint32_t slot, const Datum& value, const Writer& writer);
  bool set_any(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_all(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_empty(Instance* owner, uint32_t slot, Place at);
  bool set_value(Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool refuse_type(const Attribute& attribute, const Datum& value, Place at);
  bool blame(Instance* owner, uint32_t slot, std::string reported);
  bool tell(Instance* owner, uint32_t slot, const Writer& writer);
  Step told(Step step, Instance* owner, uint32_t slot, const Writer& writer);
  bool add_item(Instance* owner, uint32_t slot, const Datum& value, Place at, bool sets_inverse);
  bool tell_listeners(const Delayed& delayed, const Datum& value, Place at);
  bool is_member(Delayed& delayed, Instance* owner, uint32_t slot, const Datum& value, Place at);
  bool set_inverse(Instance* owner, const Attribute& attribute, Instance* other, Place at);
  bool set_cell(Cell& cell, const Datum& value, Place at);
  void repeat(Instance* owner, uint32_t slot, const Datum& value, Contributor first, Place at);

  // schedule.cc
  Delayed& delayed_of(Instance* owner, uint32_t slot);
  void wait_on(Cell& cell, bool wants_item = false);
  void wake(Cell& cell, Delayed* delayed, Link* waiters, bool only_item);
  void set(Cell& cell, const Datum& value, Place at);
  void wake_for_item(Cell& cell);
  void push(Task* task) { ready_.push_back({.task = task}); }
  Task* next_ready();
  Task* task_of(const Turn& turn);
  void consider(Delayed& delayed);
  bool can_freeze(const Delayed& delayed) const;
  void freeze(Delayed& delayed);
  bool freeze_one();
  Delayed* next_waiting();
  static int potential_of(const Delayed& delayed);
  void promise(Instance* owner, uint32_t slot, Promises*& held);
  void release(Delayed& delayed);
  void release(Promises*& held);
  void give_back(Promises* held);

  // finish.cc
  void finish(std::vector<Failure>& failures);
  void finish_instance(const Instance& instance, std::vector<Failure>& failures);
  static const Expr* awaited(const Task& task);
  bool run_ready();
  void block(Task& task);
  bool run_task(Task& task);
  void give_back();
  bool check_defaults();

  // execute.cc
  Task* new_task(Task::Kind kind, Frame* frame);
  Frame* new_frame(Frame* parent, Instance* self, size_t cells);
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
  void report_part(const Task& task, const Expr* expr);
  void close(Sink& sink);
  Step execute_guard(Task& task);

  // errors.cc
  /// A failure of the expression that is evaluated now, or of the current statement. Causes stand
  /// in the message below `caused by:`.
  Step fail(Place at, std::string message, int rank = 100);
  Step fail(Place at, std::string message, int rank, Telling telling);
  /// When the budget refuses: the task that works now is the place.
  Step over();
  Step miss(const Need& missing);
  Step refuse_in_type(const Expr& expr);
  std::string reading_text(const Expr* reader) const;
  std::string written_by(const Writer& writer) const;
  bool is_blamed() const;
  void report(const Expr* expr);
  void report_unit(const Expr* expr);
  void report(std::string reported, bool is_reader);
  void report_task(const Task& task);
  std::string instance_text(const Instance* instance) const;

  Program& program_;
  std::function<void(std::string_view)> print_;
  std::vector<Instance*> instances_;
  std::deque<Repetition> repetitions_;
  std::vector<Reading> readings_;
  std::vector<Allocation> allocations_;
  struct Blocked {
    Task* task;
    uint32_t number;  ///< another one: the task is done
  };
  std::vector<Blocked> blocked_;
  size_t most_blocked_ = 1024;  ///< before those that are done are looked for
  std::vector<bool> selected_;  ///< by instance: whether an implementation was chosen
  std::unordered_set<Memo, MemoHash> emitted_;  ///< implementation and instance
  std::deque<Turn> ready_;
  std::vector<Task*> urgent_;  ///< statements with a name that stands for nothing
  std::deque<Delayed*> waiting_;
  std::map<uint32_t, std::deque<Delayed*>> ruled_;  ///< the same of relations that rules rank
  std::vector<Delayed*> zero_;
  std::vector<Delayed*> watched_;  ///< everything that a task ever waited on
  std::deque<Delayed> delayed_;
  ArenaPool<Task> tasks_{program_.arena};
  ArenaPool<Link> links_{program_.arena};
  ArenaPool<Sink> sinks_{program_.arena};
  ArenaArrays<Datum> item_arrays_{program_.arena};
  Pool<Memory> memories_;
  Pool<Promises> promises_;
  std::vector<Task*> done_;    ///< given back before the next task runs
  std::vector<Sink*> closed_;  ///< as well
  uint32_t task_count_ = 0;
  struct Lookup {
    std::string keys;
    const Expr* node;
  };
  std::unordered_map<const Task*, Lookup> lookups_;  ///< what a task looks for in vain
  Regexes regexes_;
  PlaceTable places_;                                 ///< where cells were set
  std::vector<std::pair<Memo, Remembered>> scratch_;  ///< what the current task is to remember
  std::vector<std::string> keys_;                     ///< by index, of the instance being made
  std::vector<Datum> values_;                         ///< of constructors under way, by slot
  Task* current_ = nullptr;
  uint32_t skipped_frames_ = 0;
  int64_t unknowns_ = 0;  ///< that got a number
  uint32_t depth_ = 0;
  Contributor by_ = 0;  ///< for whom the current task writes
  int delivering_ = 0;  ///< relations that hand on an element, nested
  bool is_probing_ = false;
  std::string key_;
  std::optional<Failure> failure_;
  Telling telling_ = Telling::nobody;
  bool is_in_unit_ = false;  ///< the failure is in what the original computes on its own
};

}  // namespace fettle::model
