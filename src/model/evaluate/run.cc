/// The rounds of a compile, and the cells that they fill.

#include "base/text.h"
#include "model/evaluate/machine.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {

/// The value of a cell that has none, for all who wait for it.
void Machine::set(Cell& cell, const Datum& value, Place at) {
  Link* const waiters = cell.waiters();
  Delayed* const delayed = cell.delayed();
  cell.value = value;
  cell.value.set_place(places_.number(at));
  if (waiters != nullptr)
    schedule_.wake(cell, delayed, waiters, false);
}

/// Wakes those who are content with an element.
void Machine::wake_for_item(Cell& cell) {
  if (cell.value.is_set())
    return;
  Link* const waiters = cell.waiters();
  cell.set_waiters(nullptr);
  schedule_.wake(cell, cell.delayed(), waiters, true);
}

void Machine::freeze(Delayed& delayed) {
  if (delayed.cell->value.is_set())
    return;
  const bool is_list = delayed.attribute->shape == Shape::list;
  set(*delayed.cell, is_list ? Datum::of(static_cast<const List*>(&delayed)) : Datum::null(),
      Place());
  std::vector<Sink*> listeners = std::move(delayed.listeners);
  delayed.listeners.clear();
  for (Sink* sink : listeners)
    if (--sink->open == 0)
      close(*sink);
}

/// Freezes the next relation that somebody waits for; without any, all that may be. False when
/// there is none.
bool Machine::freeze_some() {
  if (Delayed* const next = relations_.next()) {
    freeze(*next);
    return true;
  }
  bool has_frozen = false;
  while (Delayed* const next = relations_.next_unwanted()) {
    freeze(*next);
    has_frozen = true;
  }
  return has_frozen;
}

/// One step of a task. False: it failed.
bool Machine::run_task(Task& task) {
  const Scoped running(now_, Underway{&task, task.contributor(), task.depth()});
  const size_t mark = schedule_.mark();
  const Step step = execute(task);
  if (step == Step::fail || errors_) {
    errors_.tell(task);
    return false;
  }
  if (step == Step::wait) {
    schedule_.block(task);
    schedule_.keep(task, mark);
  } else if (task.missing == 0) {
    schedule_.end(&task);
  }
  schedule_.drop(mark);
  return true;
}

/// Between tasks nobody looks at those that are done, nor at closed sinks.
void Machine::give_back() {
  schedule_.give_back();
  for (Sink* sink : closed_)
    sinks_.give_back(sink);
  closed_.clear();
}

bool Machine::run_ready() {
  while (Task* const task = schedule_.next()) {
    // What was refused within a task ended early, with a part of the value.
    if (!run_task(*task) || !budget().spend(1)) {
      if (budget().is_over())
        errors_.exceed(task->at);
      return false;
    }
    give_back();
  }
  return true;
}

/// Defaults against the conditions of their types, which may call plugins.
bool Machine::check_defaults() {
  for (const Entity& entity : program_.entities)
    for (size_t slot = 0; slot < entity.slots.size(); ++slot) {
      const Attribute& attribute = *entity.slots[slot];
      const Datum& value = entity.defaults[slot];
      Reason why;
      if (attribute.owner != &entity || !value.is_set() || attribute.type.constraint == nullptr ||
          accepts(attribute.type, value, why))
        continue;
      errors_.fail(attribute.at, why.message, 10);
      Place at = attribute.at;
      at.is_exact = 1;
      for (const AttributeDefinition& definition : entity.definition->attributes)
        if (definition.name == attribute.name)
          errors_.tell(cat(describe(program_, definition), " (", program_.location(at), ")"));
      return false;
    }
  return true;
}

std::vector<Failure> Machine::run() {
  for (Space& space : program_.spaces)
    space.frame = new_frame(space.unit.body->locals.size());
  if (!check_defaults())
    return {*errors_};
  for (Space& space : program_.spaces)
    emit(*space.unit.body, space.frame, false);
  // No limit unless the environment sets one.
  const char* const setting = std::getenv("INMANTA_MAX_ITERATIONS");
  const long most = setting == nullptr ? 0 : std::strtol(setting, nullptr, 10);
  bool is_running = true;
  for (long rounds = 1; is_running; ++rounds) {
    if (!run_ready())
      return {*errors_};
    is_running = freeze_some() || !schedule_.is_empty();
    if (is_running && most > 0 && rounds >= most)
      return {Failure{
          user_error(cat("Could not complete model, max_iterations ", most, " reached.")), 0}};
  }
  std::vector<Failure> failures;
  finish(failures);
  return failures;
}

}  // namespace fettle::model
