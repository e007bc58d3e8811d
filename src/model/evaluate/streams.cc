#include "model/evaluate/streams.h"

#include "base/text.h"
#include "model/evaluate/assignment.h"
#include "model/evaluate/cells.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/frames.h"
#include "model/evaluate/make_value.h"
#include "model/evaluate/statements.h"
#include "model/evaluate/tasks.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {

void Streams::start(const Expr* expr, Frame* frame, Sink* sink, const Expr* list) {
  ++sink->open;
  Task* task = schedule_.make(Task::Kind::stream, frame);
  task->expr = expr;
  task->list = list;
  task->sink = sink;
  task->at = expr->at;
  schedule_.push(task);
}

Step Streams::execute_stream(Task& task) {
  const Expr* expr = task.expr;
  while (expr->kind == ExprKind::conditional) {
    Datum condition;
    if (const Step step =
            evaluator_.evaluate(as<Conditional>(expr).condition, task.frame, condition);
        step != Step::done)
      return step;
    if (condition.tag != Tag::boolean)
      break;
    expr = condition.boolean ? as<Conditional>(expr).yes : as<Conditional>(expr).no;
  }
  if (expr->kind == ExprKind::comprehension) {
    stream_comprehension(task, as<Comprehension>(expr));
    return Step::done;
  }
  if (expr->kind == ExprKind::list && task.sink->kind == Sink::Kind::relation)
    return stream_items(task, as<ListExpr>(expr));
  Relation from;
  if (const Step step = find_relation(task, expr, from); step != Step::done)
    return step;
  return from.owner != nullptr ? stream_relation(task, expr, from) : stream_value(task, expr);
}

/// Its sink is one between the two ends.
void Streams::stream_comprehension(Task& task, const Comprehension& node) {
  Sink& sink = *task.sink;
  Sink& inner = make_sink();
  inner.kind = Sink::Kind::comprehension;
  inner.comprehension = &node;
  inner.frame = task.frame;
  inner.by = sink.by;
  inner.statement = sink.statement;
  inner.constructor = sink.constructor;
  inner.target = &sink;  // which stays open until the inner one closes
  if (task.list != nullptr && task.list->kind == ExprKind::comprehension)
    inner.within = &as<Comprehension>(task.list);
  start(node.iterable, task.frame, &inner);
}

/// Each item of a list has a producer of its own.
Step Streams::stream_items(Task& task, const ListExpr& list) {
  Sink& sink = *task.sink;
  for (const Expr* item : list.items) {
    ++sink.open;
    Task* part = schedule_.make(Task::Kind::stream, task.frame);
    part->expr = item;
    part->list = &list;
    part->sink = &sink;
    part->at = item->at;
    if (!tasks_.run(*part))
      return Step::fail;
  }
  end(sink);
  return Step::done;
}

/// The relation that the expression names; without an owner when it names none.
Step Streams::find_relation(Task& task, const Expr* expr, Relation& found) {
  Instance* owner = nullptr;
  uint32_t slot = 0;
  if (expr->kind == ExprKind::attribute) {
    Datum object;
    if (const Step step = evaluator_.evaluate(as<AttributeRef>(expr).object, task.frame, object);
        step != Step::done) {
      if (step == Step::fail)
        errors_.tell_if(Teller::unit, reported_in(program_, expr));
      return step;
    }
    if (object.tag == Tag::instance) {
      owner = object.instance;
      slot = owner->entity->slot(as<AttributeRef>(expr).name);
    }
  } else if (expr->kind == ExprKind::name && as<Name>(expr).found == NameKind::self_attribute) {
    owner = task.frame->self();
    slot = owner->entity->slot(as<Name>(expr).name.name);
  }
  if (owner != nullptr && slot != no_slot && owner->entity->slots[slot]->shape == Shape::list)
    found = {owner, slot};
  return Step::done;
}

/// Delivers the members that are there, and listens for those that are to come.
Step Streams::stream_relation(Task& task, const Expr* expr, Relation relation) {
  Sink& sink = *task.sink;
  DelayedList& from = relations_.of(relation.owner, relation.slot);
  contributions_.read(relation.owner, relation.slot, expr->at);
  const bool is_frozen = from.cell->value.is_set();
  if (!is_frozen)
    from.listeners.push_back(&sink);
  // What arrives meanwhile goes to the listeners.
  const size_t count = from.items.size();
  for (size_t i = 0; i < count; ++i) {
    const Datum item = from.items[i];
    if (!deliver(sink, item, location_of(task.expr)))
      return Step::fail;
  }
  if (is_frozen)
    end(sink);
  return Step::done;
}

/// Evaluates the expression as a whole, and delivers it at once.
Step Streams::stream_value(Task& task, const Expr* expr) {
  Sink& sink = *task.sink;
  errors_.set_in_unit(false);
  const Destination to{sink.owner,
                       sink.owner == nullptr ? nullptr : sink.owner->entity->slots[sink.slot]};
  Datum value;
  if (const Step step =
          evaluator_.evaluate(expr, task.frame, value, sink.owner == nullptr ? nullptr : &to);
      step != Step::done) {
    if (step == Step::fail)
      errors_.tell_part(task, expr);
    return sink.owner == nullptr ? step
                                 : errors_.tell(step, sink.owner, sink.slot,
                                                {sink.constructor, sink.statement, false, task.at});
  }
  if (sink.kind != Sink::Kind::relation && task.list == nullptr && value.tag != Tag::list &&
      value.tag != Tag::unknown)
    return refuse(sink, expr, value);
  const bool is_good = task.list != nullptr && value.tag == Tag::null
                           ? deliver_item(sink, value, task.list->at)
                           : deliver_all(sink, value, location_of(expr));
  if (!is_good)
    return Step::fail;
  end(sink);
  return Step::done;
}

/// A loop or a comprehension over what is no list.
Step Streams::refuse(const Sink& sink, const Expr* expr, const Datum& value) {
  if (sink.kind == Sink::Kind::comprehension)
    return errors_.fail(
        expr->at,
        Reason{cat("A list comprehension can only be applied to lists and relations, got ",
                   raw_type(value)),
               reported_in(program_, static_cast<const Expr*>(sink.comprehension))},
        Importance::typing);
  const bool is_named = expr->kind == ExprKind::name || expr->kind == ExprKind::attribute;
  return errors_.fail(
      expr->at,
      cat("A for loop can only be applied to lists and relations. Hint: '",
          is_named ? cat(describe(program_, expr), "' resolves to '", shown(program_, value), "'.")
                   : cat(shown(program_, value), "' is not a list.")),
      Importance::typing);
}

/// A value for a relation, which may hand it on.
bool Streams::gather(Instance* owner, uint32_t slot, const Datum& value, const Writer& writer) {
  const ScopeGuard delivering(delivering_, delivering_ + 1);
  return assignment_.set_slot(owner, slot, value, writer);
}

/// The same, as a stream of one value that goes to a relation.
Step Streams::execute_member(Task& task) {
  Instance* const owner = task.target;
  const Destination to{owner, owner->entity->slots[task.slot]};
  Datum value;
  if (const Step step = evaluator_.evaluate(task.expr, task.frame, value, &to); step != Step::done)
    return errors_.tell(step, owner, task.slot, {nullptr, task.assignment, false, task.at});
  const Writer writer{nullptr, task.assignment, false, location_of(task.expr)};
  const std::span<const Datum> values =
      value.tag == Tag::list ? value.list->items : std::span<const Datum>(&value, 1);
  for (const Datum& one : values)
    if (!gather(owner, task.slot, one, writer))
      return Step::fail;
  // Null closed the relation, and the list that contains it is delivered once more as a whole.
  const auto is_null = [](const Datum& one) { return one.tag == Tag::null; };
  if (value.tag == Tag::list && std::ranges::any_of(values, is_null) &&
      !gather(owner, task.slot, value, writer))
    return Step::fail;
  relations_.release(owner, task.slot);
  return Step::done;
}

bool Streams::deliver_all(Sink& sink, const Datum& value, Place at) {
  if (value.tag != Tag::list)
    return (sink.kind == Sink::Kind::loop && value.tag == Tag::unknown) || deliver(sink, value, at);
  for (const Datum& item : value.list->items)
    if (!deliver_item(sink, item, at))
      return false;
  return true;
}

/// Delivers one element of a list. Null closes a relation; the list that contains it is delivered
/// once more as a whole, when the relation can take no more.
bool Streams::deliver_item(Sink& sink, const Datum& value, Place at) {
  if (!deliver(sink, value, at))
    return false;
  if (value.tag == Tag::null && sink.kind == Sink::Kind::relation)
    deliver_later(sink, make_list(program_, {&value, 1}), at);
  return true;
}

/// Delivers through the queue.
void Streams::deliver_later(Sink& sink, const Datum& value, Place at) {
  Task* task = schedule_.make(Task::Kind::element, new_frame(program_.arena, 1));
  task->frame->cells[0].value = value;
  task->sink = &sink;
  task->at = at;
  ++sink.open;
  schedule_.push(task);
}

bool Streams::deliver(Sink& sink, const Datum& value, Place at) {
  switch (sink.kind) {
    case Sink::Kind::relation: {
      // A long chain of relations goes through the queue, not through the stack.
      constexpr int most_nested = 200;
      if (delivering_ >= most_nested) {
        deliver_later(sink, value, at);
        return true;
      }
      const ScopeGuard contributing(now_.by, sink.by);
      return gather(sink.owner, sink.slot, value, {sink.constructor, sink.statement, false, at});
    }
    case Sink::Kind::loop: {
      if (value.tag == Tag::unknown)
        return true;
      const Block& body = *as<For>(sink.statement).body;
      Frame* frame = new_element_frame(program_.arena, *sink.frame, value, body.locals.size());
      frame->cells[0].value.set_place(cells_.place_number(at));
      statements_.emit(body, frame, true);
      return true;
    }
    case Sink::Kind::comprehension: {
      const Comprehension& node = *sink.comprehension;
      if (value.tag == Tag::unknown && node.guard == nullptr)
        return deliver(*sink.target, value, at);
      Frame* frame = new_element_frame(program_.arena, *sink.frame, value, 1);
      if (node.guard == nullptr) {
        start(node.value, frame, sink.target, &node);
        return true;
      }
      Task* task = schedule_.make(Task::Kind::guard, frame);
      task->sink = sink.target;
      task->expr = &node;
      task->at = node.at;
      ++sink.target->open;
      schedule_.push(task);
      return true;
    }
  }
  return true;
}

Step Streams::execute_guard(Task& task) {
  const auto& node = as<Comprehension>(task.expr);
  Sink& sink = *task.sink;
  Datum guard;
  if (const Step step = evaluator_.evaluate(node.guard, task.frame, guard); step != Step::done)
    return step;
  const Datum& element = task.frame->cells[0].value;
  if (guard.tag == Tag::boolean && guard.boolean && element.tag == Tag::unknown)
    guard = element;
  if (guard.tag == Tag::unknown) {
    if (!deliver(sink, guard, task.at))
      return Step::fail;
    guard = Datum::of(false);
  }
  if (guard.tag != Tag::boolean)
    return errors_.fail(
        node.guard->at,
        cat("Invalid value `", shown(program_, guard),
            "`: the condition for a conditional expression must be a boolean expression"));
  if (!guard.boolean) {
    end(sink);
    return Step::done;
  }
  start(node.value, task.frame, &sink, &node);
  --sink.open;
  return Step::done;
}

Step Streams::execute_element(Task& task) {
  if (!deliver(*task.sink, task.frame->cells[0].value, task.at))
    return Step::fail;
  end(*task.sink);
  return Step::done;
}

void Streams::give_back() {
  for (Sink* sink : closed_)
    sinks_.give_back(sink);
  closed_.clear();
}

/// All producers are done.
void Streams::close(Sink& sink) {
  if (sink.has_promise)
    relations_.release(sink.owner, sink.slot);
  relations_.release(sink.held);
  if (!std::exchange(sink.is_closed, true))
    closed_.push_back(&sink);
  if (sink.kind == Sink::Kind::comprehension && --sink.target->open == 0)
    close(*sink.target);
}

}  // namespace fettle::model
