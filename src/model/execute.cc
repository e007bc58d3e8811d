#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {

Task* Machine::new_task(Task::Kind kind, Frame* frame) {
  Task* task = program_.arena.make<Task>();
  task->kind = kind;
  task->frame = frame;
  return task;
}

Frame* Machine::new_frame(Frame* parent, Instance* self, size_t cells) {
  auto* frame = static_cast<Frame*>(program_.arena.take(sizeof(Frame) + cells * sizeof(Cell)));
  frame->parent = parent;
  frame->self = self;
  for (size_t i = 0; i <= cells; ++i)
    new (&frame->cells[i]) Cell();
  return frame;
}

/// Nested blocks start with their last statement, as the original does.
void Machine::emit(const Block& block, Frame* frame, bool is_reversed) {
  const size_t count = block.statements.size();
  for (size_t i = 0; i < count; ++i) {
    const Stmt* statement = block.statements[is_reversed ? count - 1 - i : i];
    Task* task = new_task(Task::Kind::statement, frame);
    task->statement = statement;
    task->at = statement->at;
    if (statement->kind == StmtKind::if_) {
      make_promises(*task, *as<If>(statement).yes);
      make_promises(*task, *as<If>(statement).no);
    }
    push(task);
  }
}

/// Promises for what the block may assign to objects that are known outside of it.
void Machine::make_promises(Task& task, const Block& block) {
  for (const AssignAttribute* assign : block.promises) {
    const Expr* root = assign->object;
    Datum object;
    is_probing_ = true;
    skipped_frames_ = 1;
    const Step step = evaluate(root, task.frame, object);
    skipped_frames_ = 0;
    is_probing_ = false;
    failure_.reset();
    if (step != Step::done || object.tag != Tag::instance)
      continue;
    const uint32_t slot = object.instance->entity->slot(assign->name);
    if (slot == no_slot || object.instance->entity->slots[slot]->shape < Shape::option)
      continue;
    if (task.held == nullptr)
      task.held = &held_.emplace_back();
    promise(delayed_of(object.instance, slot), *task.held);
  }
}

Contributor Machine::contributor_of(const Task& task) {
  if (task.sink != nullptr)
    return task.sink->by;
  const Instance* instance = task.kind == Task::Kind::argument ? task.target
                             : task.frame != nullptr           ? task.frame->self
                                                               : nullptr;
  return instance == nullptr ? 0 : instance->number + 1;
}

Step Machine::execute(Task& task) {
  switch (task.kind) {
    case Task::Kind::statement:
      return execute_statement(task);
    case Task::Kind::argument: {
      const Attribute& attribute = *task.target->entity->slots[task.slot];
      const Destination to{task.target, &attribute};
      Datum value;
      const Step step = evaluate(task.expr, task.frame, value, &to);
      if (step != Step::done)
        return step;
      if (!set_slot(task.target, task.slot, value, task.at))
        return Step::fail;
      if (task.held != nullptr)
        release(*task.held);
      return Step::done;
    }
    case Task::Kind::implement:
      return execute_implement(task);
    case Task::Kind::stream:
      return execute_stream(task);
    case Task::Kind::guard:
      return execute_guard(task);
    case Task::Kind::element:
      if (!deliver(*task.sink, task.frame->cells[0].value, task.at))
        return Step::fail;
      if (--task.sink->open == 0)
        close(*task.sink);
      return Step::done;
  }
  return Step::done;
}

Step Machine::execute_statement(Task& task) {
  switch (task.statement->kind) {
    case StmtKind::expression: {
      Datum ignored;
      return evaluate(as<ExprStmt>(task.statement).expression, task.frame, ignored);
    }
    case StmtKind::assign: {
      const auto& node = as<Assign>(task.statement);
      Datum value;
      const Step step = evaluate(node.value, task.frame, value);
      if (step != Step::done)
        return step;
      return set_cell(task.frame->cells[node.slot], value, node.at) ? Step::done : Step::fail;
    }
    case StmtKind::assign_attribute:
      return execute_assign_attribute(task, as<AssignAttribute>(task.statement));
    case StmtKind::for_:
      execute_for(task, as<For>(task.statement));
      return Step::done;
    case StmtKind::if_:
      return execute_if(task, as<If>(task.statement));
  }
  return Step::done;
}

Step Machine::execute_assign_attribute(Task& task, const AssignAttribute& node) {
  Datum object;
  if (const Step step = evaluate(node.object, task.frame, object); step != Step::done)
    return step;
  if (object.tag != Tag::instance)
    return fail(node.at, cat("The object ", text_of(program_, object),
                             " is not an entity instance, its attribute ",
                             program_.symbols.name(node.name), " can not be set"));
  const uint32_t slot = object.instance->entity->slot(node.name);
  if (slot == no_slot)
    return fail(node.at,
                cat("attribute ", program_.symbols.name(node.name), " not found on type ",
                    object.instance->entity->full_name),
                20);
  const Attribute& attribute = *object.instance->entity->slots[slot];
  if (attribute.shape == Shape::list) {
    Sink& sink = sinks_.emplace_back();
    sink.owner = object.instance;
    sink.slot = slot;
    sink.at = node.at;
    sink.by = by_;
    promise(delayed_of(object.instance, slot), sink.held);
    stream(node.value, task.frame, &sink);
    return Step::done;
  }
  if (node.is_add)
    return fail(node.at, attribute.shape == Shape::value
                             ? "Can not use += on attributes, only on relations"
                             : "Can not use += on relations with multiplicity 1");
  if (attribute.shape == Shape::option && task.held == nullptr) {
    task.held = &held_.emplace_back();
    promise(delayed_of(object.instance, slot), *task.held);
  }
  const Destination to{object.instance, &attribute};
  Datum value;
  if (const Step step = evaluate(node.value, task.frame, value, &to); step != Step::done)
    return step;
  if (!set_slot(object.instance, slot, value, node.at))
    return Step::fail;
  if (task.held != nullptr)
    release(*task.held);
  return Step::done;
}

Step Machine::execute_if(Task& task, const If& node) {
  Datum condition;
  if (const Step step = evaluate(node.condition, task.frame, condition); step != Step::done)
    return step;
  if (condition.tag != Tag::unknown && condition.tag != Tag::boolean)
    return fail(node.condition->at,
                cat("Invalid value `", text_of(program_, condition),
                    "`: the condition for an if statement can only be a boolean expression"));
  if (condition.tag == Tag::boolean) {
    const Block& branch = condition.boolean ? *node.yes : *node.no;
    emit(branch, new_frame(task.frame, task.frame->self, branch.locals.size()), true);
  }
  if (task.held != nullptr)
    release(*task.held);
  return Step::done;
}

void Machine::execute_for(Task& task, const For& node) {
  Sink& sink = sinks_.emplace_back();
  sink.kind = Sink::Kind::loop;
  sink.frame = task.frame;
  sink.loop = &node;
  sink.at = node.at;
  sink.by = by_;
  make_promises(task, *node.body);
  if (task.held != nullptr)
    sink.held = *task.held;
  stream(node.iterable, task.frame, &sink);
}

Step Machine::execute_implement(Task& task) {
  if (task.implement->condition != nullptr) {
    Datum condition;
    if (const Step step = evaluate(task.implement->condition, task.frame, condition);
        step != Step::done)
      return step;
    if (condition.tag == Tag::unknown)
      return Step::done;
    if (condition.tag != Tag::boolean)
      return fail(task.implement->condition->at,
                  cat("Invalid value `", text_of(program_, condition),
                      "`: the condition for a conditional implementation can only be a boolean "
                      "expression"));
    if (!condition.boolean)
      return Step::done;
  }
  selected_[task.target->number] = true;
  for (const Implementation* implementation : task.implement->implementations) {
    const Block& body = *implementation->definition->body;
    if (task.target->entity->selected.size() > 1 &&
        !emitted_.insert({implementation, reinterpret_cast<const Frame*>(task.target)}).second)
      continue;
    emit(body, new_frame(nullptr, task.target, body.locals.size()), true);
  }
  return Step::done;
}

/// Starts to deliver the values of an expression; those that are there already at once.
void Machine::stream(const Expr* expr, Frame* frame, Sink* sink) {
  ++sink->open;
  Task* task = new_task(Task::Kind::stream, frame);
  task->expr = expr;
  task->sink = sink;
  task->at = expr->at;
  push(task);
}

Step Machine::execute_stream(Task& task) {
  Sink& sink = *task.sink;
  const Expr* expr = task.expr;
  while (expr->kind == ExprKind::conditional) {
    Datum condition;
    if (const Step step = evaluate(as<Conditional>(expr).condition, task.frame, condition);
        step != Step::done)
      return step;
    if (condition.tag != Tag::boolean)
      break;
    expr = condition.boolean ? as<Conditional>(expr).yes : as<Conditional>(expr).no;
  }
  const bool is_list_wanted = sink.kind != Sink::Kind::relation;
  if (expr->kind == ExprKind::comprehension) {
    const auto& node = as<Comprehension>(expr);
    Sink& inner = sinks_.emplace_back();
    inner.kind = Sink::Kind::comprehension;
    inner.comprehension = &node;
    inner.frame = task.frame;
    inner.by = sink.by;
    inner.target = &sink;  // which stays open until the inner one closes
    stream(node.clauses[0].iterable, task.frame, &inner);
    return Step::done;
  }
  if (expr->kind == ExprKind::list && !is_list_wanted) {
    for (const Expr* item : as<ListExpr>(expr).items)
      stream(item, task.frame, &sink);
    if (--sink.open == 0)
      close(sink);
    return Step::done;
  }
  Instance* owner = nullptr;
  uint32_t slot = 0;
  if (expr->kind == ExprKind::attribute) {
    Datum object;
    if (const Step step = evaluate(as<AttributeRef>(expr).object, task.frame, object);
        step != Step::done)
      return step;
    if (object.tag == Tag::instance) {
      owner = object.instance;
      slot = owner->entity->slot(as<AttributeRef>(expr).name);
    }
  } else if (expr->kind == ExprKind::name && as<Name>(expr).found == NameKind::self_attribute) {
    owner = task.frame->self;
    slot = owner->entity->slot(as<Name>(expr).name.name);
  }
  if (owner != nullptr && slot != no_slot && owner->entity->slots[slot]->shape == Shape::list) {
    Delayed& from = delayed_of(owner, slot);
    const bool is_frozen = from.cell->value.is_set();
    if (!is_frozen)
      from.listeners.push_back(&sink);
    const std::vector<Datum> items = from.items;
    for (const Datum& item : items)
      if (!deliver(sink, item, task.at))
        return Step::fail;
    if (is_frozen && --sink.open == 0)
      close(sink);
    return Step::done;
  }
  const Destination to{sink.owner,
                       sink.owner == nullptr ? nullptr : sink.owner->entity->slots[sink.slot]};
  Datum value;
  if (const Step step = evaluate(expr, task.frame, value, sink.owner == nullptr ? nullptr : &to);
      step != Step::done)
    return step;
  if (sink.kind == Sink::Kind::loop && value.tag != Tag::list && value.tag != Tag::unknown)
    return fail(expr->at,
                cat("A for loop can only be applied to lists and relations. Hint: the value is `",
                    text_of(program_, value), "`"));
  if (sink.kind == Sink::Kind::comprehension && value.tag != Tag::list && value.tag != Tag::unknown)
    return fail(expr->at,
                cat("A list comprehension can only be applied to lists and relations, got ",
                    text_of(program_, value)));
  if (!deliver_all(sink, value, task.at))
    return Step::fail;
  if (--sink.open == 0)
    close(sink);
  return Step::done;
}

bool Machine::deliver_all(Sink& sink, const Datum& value, Place at) {
  if (value.tag != Tag::list)
    return (sink.kind == Sink::Kind::loop && value.tag == Tag::unknown) || deliver(sink, value, at);
  for (const Datum& item : value.list->items)
    if (!deliver(sink, item, at))
      return false;
  return true;
}

bool Machine::deliver(Sink& sink, const Datum& value, Place at) {
  switch (sink.kind) {
    case Sink::Kind::relation: {
      // A long chain of relations goes through the queue, not through the stack.
      constexpr int most_nested = 200;
      if (delivering_ >= most_nested) {
        Task* task = new_task(Task::Kind::element, new_frame(nullptr, nullptr, 1));
        task->frame->cells[0].value = value;
        task->sink = &sink;
        task->at = at;
        ++sink.open;
        push(task);
        return true;
      }
      ++delivering_;
      const Contributor before = std::exchange(by_, sink.by);
      const bool is_good = set_slot(sink.owner, sink.slot, value, sink.at);
      by_ = before;
      --delivering_;
      return is_good;
    }
    case Sink::Kind::loop: {
      if (value.tag == Tag::unknown)
        return true;
      const Block& body = *sink.loop->body;
      Frame* frame = new_frame(sink.frame, sink.frame->self, body.locals.size());
      frame->cells[0].value = value;
      frame->cells[0].set_at = at;
      emit(body, frame, true);
      return true;
    }
    case Sink::Kind::comprehension: {
      if (value.tag == Tag::unknown)
        return deliver(*sink.target, value, at);
      Frame* frame = new_frame(sink.frame, sink.frame->self, 1);
      frame->cells[0].value = value;
      const Comprehension& node = *sink.comprehension;
      if (sink.clause + 1 < node.clauses.size()) {
        Sink& inner = sinks_.emplace_back();
        inner.kind = Sink::Kind::comprehension;
        inner.comprehension = &node;
        inner.clause = sink.clause + 1;
        inner.frame = frame;
        inner.by = sink.by;
        inner.target = sink.target;
        ++sink.target->open;
        stream(node.clauses[inner.clause].iterable, frame, &inner);
        return true;
      }
      if (node.guards.empty()) {
        stream(node.value, frame, sink.target);
        return true;
      }
      Task* task = new_task(Task::Kind::guard, frame);
      task->sink = sink.target;
      task->expr = &node;
      task->at = node.at;
      ++sink.target->open;
      push(task);
      return true;
    }
  }
  return true;
}

Step Machine::execute_guard(Task& task) {
  const auto& node = as<Comprehension>(task.expr);
  Sink& sink = *task.sink;
  for (size_t i = node.guards.size(); i-- > 0;) {
    Datum guard;
    if (const Step step = evaluate(node.guards[i], task.frame, guard); step != Step::done)
      return step;
    if (guard.tag == Tag::unknown) {
      if (!deliver(sink, guard, task.at))
        return Step::fail;
      guard = Datum::of(false);
    }
    if (guard.tag != Tag::boolean)
      return fail(
          node.guards[i]->at,
          cat("Invalid value `", text_of(program_, guard),
              "`: the guard condition for a list comprehension must be a boolean expression"));
    if (!guard.boolean) {
      if (--sink.open == 0)
        close(sink);
      return Step::done;
    }
  }
  stream(node.value, task.frame, &sink);
  --sink.open;
  return Step::done;
}

/// All producers are done.
void Machine::close(Sink& sink) {
  release(sink.held);
  if (sink.kind == Sink::Kind::comprehension && --sink.target->open == 0)
    close(*sink.target);
}

}  // namespace fettle::model
