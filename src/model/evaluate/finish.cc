/// Reports what is incomplete when nothing moves any more.

#include "base/text.h"
#include "model/evaluate/machine.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

/// The expression that a blocked task computes. Null: only its statement is known.
const Expr* awaited(const Task& task) {
  if (task.expr != nullptr)
    return task.expr;
  if (task.kind == Task::Kind::implement)
    return task.implement->condition;
  switch (task.statement->kind) {
    case StmtKind::expression:
      return as<ExprStmt>(task.statement).expression;
    case StmtKind::assign:
      return as<Assign>(task.statement).value;
    case StmtKind::assign_attribute:
      return as<AssignAttribute>(task.statement).value;
    default:
      return nullptr;
  }
}

}  // namespace

void Machine::finish_instance(const Instance& instance, std::vector<Failure>& failures) {
  const auto fail = [&](std::string message, std::string reported) {
    Failure made{state_.program.error_at(instance.at, ""), Importance::other};
    made.reasons.push_back({std::move(message), std::move(reported)});
    failures.push_back(std::move(made));
  };
  if (!state_.instances.is_selected(instance))
    fail(cat("Unable to select implementation for entity ",
             state_.program.symbols.name(instance.entity->name)),
         reported_in(state_.program, &instance));
  for (size_t slot = 0; slot < instance.entity->slots.size(); ++slot) {
    const Attribute& attribute = *instance.entity->slots[slot];
    const Cell& cell = instance.cells[slot];
    if (cell.value.is_set() || attribute.shape == Shape::option ||
        (attribute.shape == Shape::list && attribute.count.lower == 0))
      continue;
    Place at = attribute.at;
    at.is_exact = 1;
    const std::string start =
        cat("The object ", shown(state_.program, Datum::of(const_cast<Instance*>(&instance))),
            " is not complete: attribute ", state_.program.symbols.name(attribute.name), " (",
            state_.program.location(at), ")");
    const size_t count = cell.delayed() == nullptr ? 0 : cell.delayed()->items.size();
    if (attribute.shape != Shape::list)
      fail(cat(start, " is not set"), "");
    else if (count < attribute.count.lower)
      fail(cat(start, " requires ", attribute.count.lower, " values but only ", count, " are set"),
           "");
  }
}

void Machine::finish(std::vector<Failure>& failures) {
  for (const Instance* instance : state_.instances.all())
    finish_instance(*instance, failures);
  lookups_.tell_missing(failures);
  if (!failures.empty())
    return;
  std::string waiting;
  const Task* first = nullptr;
  state_.schedule.each_blocked([&](const Task& task) {
    if (task.kind == Task::Kind::promise)
      return;
    const Expr* expr = awaited(task);
    const std::string text =
        expr != nullptr ? describe(state_.program, expr) : describe(state_.program, task.statement);
    waiting += cat(waiting.empty() ? "" : ", ", text);
    // The original counts both a call and the statement that consists of it.
    if (task.has_statement() && task.statement->kind == StmtKind::expression &&
        expr->kind == ExprKind::call)
      waiting += cat(", ", text);
    if (first == nullptr)
      first = &task;
  });
  if (first == nullptr)
    return;
  const Expr* expr = awaited(*first);
  Failure made{state_.program.error_at(expr != nullptr ? expr->at : first->at, ""),
               Importance::other};
  made.reasons.push_back({cat("not all statements executed: [", waiting, "]"),
                          expr != nullptr ? reported_in(state_.program, expr)
                                          : reported_in(state_.program, first->statement)});
  failures.push_back(std::move(made));
}

}  // namespace fettle::model
