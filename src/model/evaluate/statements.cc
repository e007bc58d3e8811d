#include "model/evaluate/statements.h"

#include "base/text.h"
#include "model/evaluate/assignment.h"
#include "model/evaluate/cells.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/frames.h"
#include "model/evaluate/streams.h"
#include "model/evaluate/tasks.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

void Statements::emit(const Block& block, Frame* frame, bool is_reversed) {
  const size_t count = block.statements.size();
  for (size_t i = 0; i < count; ++i) {
    const Stmt* statement = block.statements[is_reversed ? count - 1 - i : i];
    if (is_ready(*statement, frame)) {
      schedule_.push({.kind = Turn::Kind::statement, .statement = statement, .frame = frame});
      continue;
    }
    Task* task = schedule_.make(Task::Kind::statement, frame);
    task->statement = statement;
    task->at = statement->at;
    if (statement->kind == StmtKind::if_) {
      make_promises(*task, *as<If>(statement).yes);
      make_promises(*task, *as<If>(statement).no);
    } else if (statement->kind == StmtKind::for_) {
      make_promises(*task, *as<For>(statement).body);
    }
    begin(*task);
  }
}

/// Whether a statement neither waits for a name nor has anything to promise.
bool Statements::is_ready(const Stmt& statement, Frame* frame) {
  if (statement.kind == StmtKind::for_ && !as<For>(&statement).body->foreseen.empty())
    return false;
  if (statement.kind == StmtKind::if_ &&
      (!as<If>(&statement).yes->foreseen.empty() || !as<If>(&statement).no->foreseen.empty()))
    return false;
  return std::ranges::all_of(statement.needs, [&](const Name* name) {
    const Cell* const cell = cells_.variable(*name, frame);
    return !is_nothing(*name) && (cell == nullptr || cell->value.is_set());
  });
}

/// A statement is queued only when its names are there. A name that stands for nothing fails at
/// once.
void Statements::begin(Task& task) {
  const ScopeGuard waiting(now_.task, &task);
  bool has_missing = false;
  for (const Name* name : task.statement->needs) {
    Cell* const cell = cells_.variable(*name, task.frame);
    has_missing |= is_nothing(*name);
    if (cell != nullptr && !cell->value.is_set())
      cells_.wait_on(*cell);
  }
  if (has_missing)
    schedule_.push_urgent(&task);
  else if (task.missing == 0)
    schedule_.push(&task);
  else
    schedule_.block(task);
}

/// Makes promises for all that the block may assign to objects that are known outside of it. For an
/// object without a value, a task waits.
void Statements::make_promises(Task& task, const Block& block) {
  for (const OuterAssignment& foreseen : block.foreseen) {
    const Step step = probe(foreseen, task);
    if (step == Step::done)
      continue;
    errors_.forget();
    relations_.promise_later(task.statement, task.held);
    Task* const made = schedule_.make(Task::Kind::promise, task.frame);
    made->foreseen = &foreseen;
    made->promises = task.held;
    made->at = foreseen.assignment->at;
    const Expr* root = foreseen.assignment->object;
    while (root->kind == ExprKind::attribute)
      root = as<AttributeRef>(root).object;
    if (step == Step::wait)
      tasks_.run(*made);
    else if (is_nothing(as<Name>(root)))
      schedule_.push_urgent(made);
    else
      schedule_.push(made);
  }
}

/// Makes the promises that need no waiting.
Step Statements::probe(const OuterAssignment& foreseen, Task& task) {
  const ScopeGuard probing(now_.is_probing, true);
  return promise_for(foreseen, task.frame, task.held);
}

/// Evaluates the object of an inner assignment, as the statement around sees it.
Step Statements::evaluate_outside(const OuterAssignment& foreseen, Frame* frame, Datum& object) {
  const ScopeGuard skipping(now_.skipped_frames, uint32_t{foreseen.levels});
  return evaluator_.evaluate(foreseen.assignment->object, frame, object);
}

Step Statements::promise_for(const OuterAssignment& foreseen, Frame* frame, Promises*& held) {
  const AssignAttribute& assignment = *foreseen.assignment;
  Datum object;
  const Step step = evaluate_outside(foreseen, frame, object);
  if (step != Step::done || object.tag == Tag::unknown)
    return step;
  uint32_t slot = no_slot;
  if (evaluator_.refuse_attribute(assignment.object, assignment.name, object, assignment.at,
                                  slot)) {
    errors_.tell(cat(describe(program_, assignment.object), ".",
                     program_.symbols.name(assignment.name), " (", program_.location(assignment.at),
                     ")"));
    return Step::fail;
  }
  const bool is_over = held != nullptr && held->is_over;
  if (!is_over && object.instance->entity->slots[slot]->shape >= Shape::option)
    relations_.promise(object.instance, slot, held);
  return Step::done;
}

/// If an option on the way has no value, the assignment reports that, if it ever runs.
Step Statements::execute_promise(Task& task) {
  Promises* held = task.promises;
  const Step step = promise_for(*task.foreseen, task.frame, held);
  if (step == Step::wait || (step == Step::fail && errors_->importance != Importance::no_value))
    return step;
  errors_.forget();
  relations_.end_promise(held);
  return Step::done;
}

Step Statements::execute_statement(Task& task) {
  switch (task.statement->kind) {
    case StmtKind::expression: {
      Datum ignored;
      return evaluator_.evaluate(as<ExprStmt>(task.statement).expression, task.frame, ignored);
    }
    case StmtKind::assign:
      return execute_assign(task, as<Assign>(task.statement));
    case StmtKind::assign_attribute:
      return execute_assign_attribute(task, as<AssignAttribute>(task.statement));
    case StmtKind::for_:
      return execute_for(task, as<For>(task.statement));
    case StmtKind::if_:
      return execute_if(task, as<If>(task.statement));
  }
  return Step::done;
}

Step Statements::execute_assign(Task& task, const Assign& node) {
  Datum value;
  const Step step = evaluator_.evaluate(node.value, task.frame, value);
  if (step != Step::done)
    return step;
  Frame* const frame = node.name.space.empty() ? task.frame : program_.spaces[node.space].frame;
  const bool is_set = cells_.set_once(frame->cells[node.slot], value, location_of(node.value));
  return is_set ? Step::done : Step::fail;
}

/// Whether an expression has its value at once. Others may pass on elements one by one.
static bool is_one_value(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::attribute:
    case ExprKind::comprehension:
    case ExprKind::conditional:
    case ExprKind::list:
      return false;
    case ExprKind::name:
      return as<Name>(&expr).found != NameKind::self_attribute;
    default:
      return true;
  }
}

Step Statements::execute_assign_attribute(Task& task, const AssignAttribute& node) {
  Datum object;
  if (const Step step = evaluator_.evaluate(node.object, task.frame, object); step != Step::done)
    return step;
  if (object.tag != Tag::instance)
    return errors_.fail(
        node.at,
        cat("The object at ", describe(program_, node.object), " is not an Entity but a <class '",
            object.tag == Tag::null ? "inmanta.execute.util." : "", raw_type(object),
            "'> with value ", shown(program_, object)),
        Importance::typing);
  const uint32_t slot = object.instance->entity->slot(node.name);
  if (slot == no_slot)
    return errors_.fail_attribute(*object.instance->entity, node.name, node.at);
  const Attribute& attribute = *object.instance->entity->slots[slot];
  if (node.missing != nullptr) {
    errors_.fail_name(*node.missing);
    if (errors_.waits_for(Teller::reader))
      errors_.leave_to(Teller::statement);
    return Step::fail;
  }
  if (attribute.shape == Shape::list && is_one_value(*node.value)) {
    relations_.promise(object.instance, slot);
    schedule_.push({.kind = Turn::Kind::member,
                    .target = object.instance->number + 1,
                    .assignment = &node,
                    .frame = task.frame});
    return Step::done;
  }
  if (attribute.shape == Shape::list) {
    Sink& sink = streams_.make_sink();
    sink.owner = object.instance;
    sink.slot = slot;
    sink.statement = &node;
    sink.by = now_.by;
    sink.has_promise = true;
    relations_.promise(object.instance, slot);
    streams_.start(node.value, task.frame, &sink);
    return Step::done;
  }
  if (node.is_add)
    return errors_.fail(node.at, "Can not use += on relations with multiplicity 1");
  if (attribute.shape == Shape::option && task.held == nullptr)
    relations_.promise(object.instance, slot, task.held);
  const Destination to{object.instance, &attribute};
  Datum value;
  const Writer writer{nullptr, &node, false, location_of(node.value)};
  if (const Step step = evaluator_.evaluate(node.value, task.frame, value, &to); step != Step::done)
    return errors_.tell(step, object.instance, slot, writer);
  if (!assignment_.set_slot(object.instance, slot, value, writer))
    return Step::fail;
  relations_.release(task.held);
  return Step::done;
}

Step Statements::execute_if(Task& task, const If& node) {
  Datum condition;
  if (const Step step = evaluator_.evaluate(node.condition, task.frame, condition);
      step != Step::done)
    return step;
  if (condition.tag != Tag::unknown && condition.tag != Tag::boolean)
    return errors_.fail(
        node.condition->at,
        cat("Invalid value `", shown(program_, condition),
            "`: the condition for an if statement can only be a boolean expression"));
  if (condition.tag == Tag::boolean) {
    const Block& branch = condition.boolean ? *node.yes : *node.no;
    emit(branch,
         branch.is_elif ? task.frame : new_frame(program_.arena, *task.frame, branch.locals.size()),
         true);
  }
  relations_.release(task.held);
  return Step::done;
}

Step Statements::execute_for(Task& task, const For& node) {
  if (node.missing != nullptr)
    return errors_.fail_need({node.missing, nullptr});
  Sink& sink = streams_.make_sink();
  sink.kind = Sink::Kind::loop;
  sink.frame = task.frame;
  sink.statement = &node;
  sink.by = now_.by;
  sink.held = std::exchange(task.held, nullptr);
  streams_.start(node.iterable, task.frame, &sink);
  return Step::done;
}

/// The frame of an implement, with nothing but `self`, for a condition or a block without
/// variables.
Frame* Statements::frame_of(Task& task) {
  if (task.frame == nullptr)
    task.frame = new_frame(program_.arena, *task.target, 0);
  return task.frame;
}

Step Statements::execute_implement(Task& task) {
  if (task.implement->condition != nullptr) {
    Datum condition;
    if (const Step step = evaluator_.evaluate(task.implement->condition, frame_of(task), condition);
        step != Step::done)
      return step;
    if (condition.tag == Tag::unknown)
      return Step::done;
    if (condition.tag != Tag::boolean)
      return errors_.fail(
          task.implement->condition->at,
          cat("Invalid value `", shown(program_, condition),
              "`: the condition for a conditional implementation can only be a boolean "
              "expression"));
    if (!condition.boolean)
      return Step::done;
  }
  instances_.select(*task.target);
  for (const Implementation* implementation : task.implement->implementations) {
    const Block& body = *implementation->definition->body;
    if (task.target->entity->selected.size() > 1 && !instances_.begins(implementation, task.target))
      continue;
    if (body.statements.empty())
      continue;
    emit(body,
         body.locals.empty() ? frame_of(task)
                             : new_frame(program_.arena, *task.target, body.locals.size()),
         true);
  }
  return Step::done;
}

}  // namespace fettle::model
