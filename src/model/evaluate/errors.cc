/// What went wrong in an evaluation, and in which statement: a failure starts where it is found and
/// is told by whoever it unwinds through.

#include "base/text.h"
#include "model/evaluate/machine.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

Step Machine::fail(Place at, std::string message, int rank) {
  return fail(at, std::move(message), rank, Telling::itself);
}

Step Machine::fail(Place at, std::string message, int rank, Telling telling) {
  if (failure_)
    return Step::fail;
  Failure made{program_.error_at(at, ""), rank};
  std::string_view rest = message;
  constexpr std::string_view cause = "\ncaused by:\n  ";
  for (size_t end = rest.find(cause); end != std::string_view::npos; end = rest.find(cause)) {
    made.reasons.push_back({std::string(rest.substr(0, end)), ""});
    rest.remove_prefix(end + cause.size());
  }
  made.reasons.push_back({std::string(rest), ""});
  Reason& last = made.reasons.back();
  if (const size_t told = last.message.rfind(" (reported in "); told != std::string::npos) {
    last.reported = last.message.substr(told + 14, last.message.size() - told - 15);
    last.message.resize(told);
  }
  failure_ = std::move(made);
  telling_ = telling;
  is_in_unit_ = false;
  return Step::fail;
}

Step Machine::name_not_found(const Name& name) {
  if (name.found == NameKind::no_space) {
    fail(name.at, no_space_text(name), 20);
    is_in_unit_ = true;
    report(reported_in(program_, static_cast<const Expr*>(&name)), false);
    return Step::fail;
  }
  if (name.found == NameKind::in_type)
    return refuse_in_type(name);
  fail(name.at, cat("variable ", program_.symbols.name(name.name.name), " not found"), 20,
       Telling::reader);
  failure_->meant = meant_variable(program_, name.name);
  return Step::fail;
}

/// A name in an argument that no index needs is looked for when the constructor runs.
Step Machine::miss(const Need& missing) {
  name_not_found(*missing.name);
  if (telling_ != Telling::reader)
    return Step::fail;
  if (missing.reader != nullptr)
    report(reading_text(missing.reader), false);
  else
    telling_ = Telling::statement;
  return Step::fail;
}

/// The expression that computes with a name; of the key of a lookup the original knows the column.
std::string Machine::reading_text(const Expr* reader) const {
  Place at = location_of(reader);
  if (reader->kind == ExprKind::map_lookup) {
    const Place key = as<MapLookup>(reader).key->at;
    const Where& where = failure_->error.where;
    at = as<MapLookup>(reader).object->at;
    at.is_exact = std::tuple(where.line, where.column) >=
                  std::tuple(static_cast<int>(key.line), static_cast<int>(key.column));
  }
  return cat(describe(program_, reader), " (", program_.location(at), ")");
}

/// Whether the original computes the expression on its own, so that a failure in it is not one of
/// the attribute that gets the value.
static bool is_unit(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::call:
    case ExprKind::attribute:
    case ExprKind::comprehension:
    case ExprKind::index_lookup:
    case ExprKind::short_lookup:
    case ExprKind::conditional:
    case ExprKind::is_defined:
      return true;
    case ExprKind::binary:
      return as<Binary>(expr).op == Operator::and_ || as<Binary>(expr).op == Operator::or_;
    default:
      return false;
  }
}

Step Machine::refuse_in_type(const Expr& expr) {
  fail(expr.at,
       cat("Unable to resolve `", describe(program_, &expr),
           "`: a type constraint can not reference variables."),
       20);
  report(reported_in(program_, &expr), false);
  return Step::fail;
}

/// Fills in the statement of the reasons that have none. A Python exception has none of its own.
void Machine::report(std::string reported, bool is_reader) {
  telling_ = Telling::nobody;
  std::vector<Reason>& reasons = failure_->reasons;
  const size_t plugin = reasons[0].message.find("Exception in plugin");
  for (size_t i = 0; i < reasons.size(); ++i)
    if (reasons[i].reported.empty() && (i == 0 || is_reader || plugin != 0))
      reasons[i].reported = reported;
}

void Machine::report(const Expr* expr) {
  if (!failure_)
    return;
  is_in_unit_ |= is_unit(expr);
  switch (telling_) {
    case Telling::nobody:
      return;
    case Telling::statement:
      if (expr->kind != ExprKind::call)
        return;
      break;
    case Telling::above:
      telling_ = Telling::unit;
      return;
    case Telling::unit:
      return report_unit(expr);
    case Telling::reader:
      if (hands_on(expr))
        return;
      return report(reading_text(expr), false);
    case Telling::itself:
      if (expr->kind == ExprKind::name)
        return;
      break;
  }
  report(reported_in(program_, expr), false);
}

/// Calls and conditions tell no statement in the original.
void Machine::report_unit(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::call:
    case ExprKind::conditional:
      return report("", false);
    case ExprKind::binary:
      if (as<Binary>(expr).op != Operator::and_ && as<Binary>(expr).op != Operator::or_)
        return;
      break;
    case ExprKind::attribute:
    case ExprKind::comprehension:
    case ExprKind::index_lookup:
    case ExprKind::short_lookup:
      break;
    default:
      return;
  }
  report(reported_in(program_, expr), false);
}

/// The comprehension that reads the value of a task; null when another does.
static const Expr* comprehension_around(const Task& task) {
  if (task.kind == Task::Kind::guard)
    return task.expr;
  if (task.kind != Task::Kind::stream)
    return nullptr;
  return task.list != nullptr && task.list->kind == ExprKind::comprehension ? task.list
                                                                            : task.sink->within;
}

/// The statement of a task tells what no expression told; of the element of a list the list does.
void Machine::report_task(const Task& task) {
  if (!failure_ || telling_ == Telling::nobody)
    return;
  if (task.kind == Task::Kind::stream && task.list != nullptr &&
      task.list->kind == ExprKind::list && !is_in_unit_)
    return report(reported_in(program_, task.list), false);
  if (const Expr* const around = comprehension_around(task);
      around != nullptr && telling_ == Telling::reader)
    return report(reported_in(program_, around), false);
  if (task.kind == Task::Kind::argument)
    report(reported_in(program_, static_cast<const Expr*>(task.constructor)), false);
  else if (task.kind == Task::Kind::implement)
    report(cat(describe(program_, *task.target->entity, *task.implement), " (",
               program_.location(task.implement->at), ")"),
           false);
  else if (task.kind == Task::Kind::promise) {
    failure_->error = program_.error_at(task.promises->statement->at, "");
    report(reported_in(program_, task.promises->statement), false);
  } else if (task.kind == Task::Kind::member)
    report(reported_in(program_, static_cast<const Stmt*>(task.assignment)), false);
  else if (task.has_statement())
    report(reported_in(program_, task.statement), false);
  else if (task.has_sink() && task.sink->statement != nullptr)
    report(reported_in(program_, task.sink->statement), false);
  else if (task.has_sink() && task.sink->constructor != nullptr)
    report(reported_in(program_, static_cast<const Expr*>(task.sink->constructor)), false);
}

/// `a::A (instantiated at m.cf:1,m.cf:7)`: with the places of all its constructors.
std::string Machine::instance_text(const Instance* instance) const {
  return shown(program_, Datum::of(const_cast<Instance*>(instance)));
}

bool Machine::is_blamed() const {
  return failure_->reasons[0].message.starts_with("Could not set attribute `");
}

/// Puts `Could not set attribute` around the failure, unless it has one already. Always false.
bool Machine::blame(Instance* owner, uint32_t slot, std::string reported) {
  if (is_blamed())
    return false;
  failure_->reasons.insert(
      failure_->reasons.begin(),
      {cat("Could not set attribute `", program_.symbols.name(owner->entity->slots[slot]->name),
           "` on instance `", instance_text(owner), "`"),
       std::move(reported)});
  failure_->rank += 1;
  return false;
}

std::string Machine::written_by(const Writer& writer) const {
  const bool is_argument = writer.expr != nullptr;
  return cat(is_argument ? describe(program_, writer.expr) : describe(program_, writer.statement),
             " (", program_.location(is_argument ? writer.expr->at : writer.statement->at), ")");
}

/// Says who wrote the value that could not be set. Always false.
bool Machine::tell(Instance* owner, uint32_t slot, const Writer& writer) {
  if (telling_ == Telling::nobody)
    return false;
  const std::string text = writer.expr != nullptr ? describe(program_, writer.expr)
                                                  : describe(program_, writer.statement);
  const Place stated = writer.expr != nullptr ? writer.expr->at : writer.statement->at;
  const std::string reported = written_by(writer);
  blame(owner, slot,
        writer.is_key ? cat(instance_text(owner), " (", program_.location(stated), ")") : reported);
  if (writer.is_key) {
    telling_ = Telling::statement;
    return false;
  }
  telling_ = Telling::nobody;
  if (failure_->error.where.line != static_cast<int>(stated.line)) {
    const std::string message = std::move(failure_->error.message);
    failure_->error = program_.error_at(stated, message);
  }
  for (Reason& reason : failure_->reasons) {
    if (!reason.reported.empty())
      continue;
    const bool has_own_place = reason.message == "List modified after freeze" ||
                               reason.message.starts_with("Exceeded relation arity") ||
                               reason.message.starts_with("Trying to set relation attribute");
    reason.reported = has_own_place ? cat(text, " (", program_.location(writer.at), ")") : reported;
  }
  return false;
}

/// A step that computed the value for an attribute: the attribute tells unless an expression on
/// the way is computed on its own.
Step Machine::told(Step step, Instance* owner, uint32_t slot, const Writer& writer) {
  if (step != Step::fail || (telling_ != Telling::unit && (is_in_unit_ || is_blamed())))
    return step;
  if (telling_ == Telling::nobody)
    blame(owner, slot, written_by(writer));
  else
    tell(owner, slot, writer);
  return step;
}

}  // namespace fettle::model
