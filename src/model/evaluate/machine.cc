#include "model/evaluate/machine.h"

#include "base/text.h"
#include "model/evaluate/frames.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {

/// Freezes the next relation that somebody waits for; if there is none, all that may be frozen.
/// False: there is none.
bool Machine::freeze_some() {
  if (DelayedList* const next = state_.relations.next()) {
    assignment_.freeze(*next);
    return true;
  }
  bool has_frozen = false;
  while (DelayedList* const next = state_.relations.next_unwanted()) {
    assignment_.freeze(*next);
    has_frozen = true;
  }
  return has_frozen;
}

bool Machine::run_tasks() {
  Budget& budget = *state_.program.budget;
  while (Task* const task = state_.schedule.next()) {
    // A refusal within a task ends it early, with a part of the value.
    if (!tasks_.run(*task) || !budget.spend(1)) {
      if (budget.is_over())
        state_.errors.exceed(task->at);
      return false;
    }
    // Between tasks, nobody looks at finished ones or at closed sinks.
    state_.schedule.give_back();
    streams_.give_back();
  }
  return true;
}

bool Machine::run_ready() {
  do {
    if (!run_tasks())
      return false;
  } while (calls_.make_waiting());
  return !state_.errors;
}

/// Checks defaults against the conditions of their types, which may call plugins.
bool Machine::check_defaults() {
  for (const Entity& entity : state_.program.entities)
    for (size_t slot = 0; slot < entity.slots.size(); ++slot) {
      const Attribute& attribute = *entity.slots[slot];
      const Datum& value = entity.defaults[slot];
      Reason why;
      if (attribute.owner != &entity || !value.is_set() || attribute.type.constraint == nullptr ||
          types_.accepts(attribute.type, value, why))
        continue;
      state_.errors.fail(attribute.at, why.message, Importance::typing);
      Place at = attribute.at;
      at.is_exact = 1;
      for (const AttributeDefinition& definition : entity.definition->attributes)
        if (definition.name == attribute.name)
          state_.errors.tell(
              cat(describe(state_.program, definition), " (", state_.program.location(at), ")"));
      return false;
    }
  return true;
}

std::vector<Failure> Machine::run() {
  for (Space& space : state_.program.spaces)
    space.frame = new_frame(state_.program.arena, space.unit.body->locals.size());
  if (!check_defaults())
    return {*state_.errors};
  for (Space& space : state_.program.spaces)
    statements_.emit(*space.unit.body, space.frame, false);
  // There is no limit unless the environment sets one.
  const char* const setting = std::getenv("INMANTA_MAX_ITERATIONS");
  const long most = setting == nullptr ? 0 : std::strtol(setting, nullptr, 10);
  bool is_running = true;
  for (long rounds = 1; is_running; ++rounds) {
    if (!run_ready())
      return {*state_.errors};
    is_running = freeze_some() || !state_.schedule.is_empty();
    if (is_running && most > 0 && rounds >= most)
      return {
          Failure{user_error(cat("Could not complete model, max_iterations ", most, " reached.")),
                  Importance::first}};
  }
  std::vector<Failure> failures;
  finish(failures);
  return failures;
}

}  // namespace fettle::model
