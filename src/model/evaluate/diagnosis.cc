#include "model/evaluate/diagnosis.h"

#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

Step Diagnosis::fail(Place at, Reason reason, Importance importance, Teller telling,
                     std::vector<Reason> causes) {
  if (failure_)
    return Step::fail;
  failure_ = Failure{program_.error_at(at, ""), importance};
  failure_->reasons.push_back(std::move(reason));
  std::ranges::move(causes, std::back_inserter(failure_->reasons));
  telling_ = telling;
  is_in_unit_ = false;
  return Step::fail;
}

void Diagnosis::exceed(Place at) {
  failure_ = too_much(program_);
  const Error place = program_.error_at(at, "");
  failure_->error.where = place.where;
  failure_->error.excerpt = place.excerpt;
}

Step Diagnosis::fail_name(const Name& name) {
  if (name.found == NameKind::no_space) {
    fail(name.at, no_space_text(name), Importance::not_found);
    is_in_unit_ = true;
    tell(reported_in(program_, static_cast<const Expr*>(&name)));
    return Step::fail;
  }
  if (name.found == NameKind::in_type)
    return fail_in_type(name);
  fail(name.at, cat("variable ", program_.symbols.name(name.name.name), " not found"),
       Importance::not_found, Teller::reader);
  failure_->meant = meant_variable(program_, name.name);
  return Step::fail;
}

Step Diagnosis::fail_need(const Need& missing) {
  fail_name(*missing.name);
  if (telling_ != Teller::reader)
    return Step::fail;
  if (missing.reader != nullptr)
    tell(reading_text(missing.reader));
  else
    telling_ = Teller::statement;
  return Step::fail;
}

Step Diagnosis::fail_in_type(const Expr& expr) {
  fail(expr.at,
       cat("Unable to resolve `", describe(program_, &expr),
           "`: a type constraint can not reference variables."),
       Importance::not_found);
  tell(reported_in(program_, &expr));
  return Step::fail;
}

Step Diagnosis::fail_budget() {
  return fail(now_.task->at, program_.budget->refusal(), Importance::first);
}

Step Diagnosis::fail_unpacking(const Argument& argument) {
  fail(argument.at, "The ** operator can only be applied to dictionaries", Importance::typing);
  tell(cat("**", describe(program_, argument.value), " (", program_.location(argument.at), ")"));
  return Step::fail;
}

Step Diagnosis::fail_attribute(const Entity& entity, Symbol name, Place at) {
  const std::string& text = program_.symbols.name(name);
  fail(at, cat("could not find attribute with name: ", text, " in type ", entity.full_name),
       Importance::not_found);
  failure_->meant = meant_attribute(program_, entity, text);
  return Step::fail;
}

Step Diagnosis::fail_attribute(const Expr* object, Symbol name, const Datum& value, Place at) {
  if (value.tag == Tag::instance)
    return fail_attribute(*value.instance->entity, name, at);
  const std::string& text = program_.symbols.name(name);
  if (value.tag == Tag::list)
    return fail(at, cat("can not get attribute ", text, ", ", quoted(program_, value),
                        " is not an entity but a list"));
  return fail(at, cat("can not get attribute ", text, ", ", describe(program_, object),
                      " is not an entity but a ", raw_type(value), " with value '",
                      shown(program_, value), "'"));
}

/// Describes the expression that computes with a name. For the key of a lookup, the original knows
/// the column.
std::string Diagnosis::reading_text(const Expr* reader) const {
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

/// Whether the original computes the expression by itself, so that a failure in it does not belong
/// to the attribute that gets the value.
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

/// A Python exception has no statement of its own.
void Diagnosis::tell(std::string reported) {
  telling_ = Teller::nobody;
  std::vector<Reason>& reasons = failure_->reasons;
  const bool is_exception = reasons[0].kind == Reason::Kind::exception;
  for (size_t i = 0; i < (is_exception ? 1 : reasons.size()); ++i)
    if (reasons[i].reported.empty())
      reasons[i].reported = reported;
}

void Diagnosis::tell_if(Teller telling, std::string reported) {
  if (telling_ == telling)
    tell(std::move(reported));
}

void Diagnosis::tell(const Expr* expr) {
  if (!failure_)
    return;
  is_in_unit_ |= is_unit(expr);
  switch (telling_) {
    case Teller::nobody:
      return;
    case Teller::statement:
      if (expr->kind != ExprKind::call)
        return;
      break;
    case Teller::above:
      telling_ = Teller::unit;
      return;
    case Teller::unit:
      return tell_unit(expr);
    case Teller::reader:
      if (hands_on(expr))
        return;
      return tell(reading_text(expr));
    case Teller::itself:
      if (expr->kind == ExprKind::name)
        return;
      break;
  }
  tell(reported_in(program_, expr));
}

/// In the original, calls and conditions report no statement.
void Diagnosis::tell_unit(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::call:
    case ExprKind::conditional:
      return tell("");
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
  tell(reported_in(program_, expr));
}

/// The comprehension that reads the value of a task. Null: something else reads it.
static const Expr* comprehension_around(const Task& task) {
  if (task.kind == Task::Kind::guard)
    return task.expr;
  if (task.kind != Task::Kind::stream)
    return nullptr;
  return task.list != nullptr && task.list->kind == ExprKind::comprehension ? task.list
                                                                            : task.sink->within;
}

/// The statement of a task reports what no expression reported. For an element of a list, the list
/// does.
void Diagnosis::tell(const Task& task) {
  if (!failure_ || telling_ == Teller::nobody)
    return;
  if (task.kind == Task::Kind::stream && task.list != nullptr &&
      task.list->kind == ExprKind::list && !is_in_unit_)
    return tell(reported_in(program_, task.list));
  if (const Expr* const around = comprehension_around(task);
      around != nullptr && telling_ == Teller::reader)
    return tell(reported_in(program_, around));
  if (task.kind == Task::Kind::argument)
    tell(reported_in(program_, static_cast<const Expr*>(task.constructor)));
  else if (task.kind == Task::Kind::implement)
    tell(cat(describe(program_, *task.target->entity, *task.implement), " (",
             program_.location(task.implement->at), ")"));
  else if (task.kind == Task::Kind::promise) {
    failure_->error = program_.error_at(task.promises->statement->at, "");
    tell(reported_in(program_, task.promises->statement));
  } else if (task.kind == Task::Kind::member)
    tell(reported_in(program_, static_cast<const Stmt*>(task.assignment)));
  else if (task.has_statement())
    tell(reported_in(program_, task.statement));
  else if (task.has_sink() && task.sink->statement != nullptr)
    tell(reported_in(program_, task.sink->statement));
  else if (task.has_sink() && task.sink->constructor != nullptr)
    tell(reported_in(program_, static_cast<const Expr*>(task.sink->constructor)));
}

void Diagnosis::tell_part(const Task& task, const Expr* expr) {
  is_in_unit_ |= task.list != nullptr || expr != task.expr;
  const Expr* const list = expr->kind == ExprKind::list ? expr : task.list;
  const bool is_element = list != nullptr && list->kind == ExprKind::list;
  if (expr != task.expr && telling_ == Teller::reader)
    tell("");
  else if (is_element && (telling_ == Teller::unit || telling_ == Teller::reader ||
                          (task.list != nullptr && telling_ == Teller::statement)))
    tell(reported_in(program_, list));
  else if (list != nullptr && telling_ == Teller::unit)
    tell(reported_in(program_, expr));
}

void Diagnosis::tell(Instance* owner, uint32_t slot, std::string reported) {
  if (is_of_attribute())
    return;
  failure_->reasons.insert(
      failure_->reasons.begin(),
      {cat("Could not set attribute `", program_.symbols.name(owner->entity->slots[slot]->name),
           "` on instance `", shown(program_, Datum::of(owner)), "`"),
       std::move(reported), Reason::Kind::attribute});
  ++failure_->attributes;
}

std::string Diagnosis::written_by(const Writer& writer) const {
  const bool is_argument = writer.expr != nullptr;
  return cat(is_argument ? describe(program_, writer.expr) : describe(program_, writer.statement),
             " (", program_.location(is_argument ? writer.expr->at : writer.statement->at), ")");
}

void Diagnosis::tell(Instance* owner, uint32_t slot, const Writer& writer) {
  if (telling_ == Teller::nobody)
    return;
  const std::string text = writer.expr != nullptr ? describe(program_, writer.expr)
                                                  : describe(program_, writer.statement);
  const Place stated = writer.expr != nullptr ? writer.expr->at : writer.statement->at;
  const std::string reported = written_by(writer);
  tell(owner, slot,
       writer.is_key ? cat(shown(program_, Datum::of(owner)), " (", program_.location(stated), ")")
                     : reported);
  if (writer.is_key) {
    telling_ = Teller::statement;
    return;
  }
  telling_ = Teller::nobody;
  if (failure_->error.where.line != static_cast<int>(stated.line)) {
    const std::string message = std::move(failure_->error.message);
    failure_->error = program_.error_at(stated, message);
  }
  for (Reason& reason : failure_->reasons) {
    if (!reason.reported.empty())
      continue;
    reason.reported = reason.kind == Reason::Kind::value
                          ? cat(text, " (", program_.location(writer.at), ")")
                          : reported;
  }
}

Step Diagnosis::tell(Step step, Instance* owner, uint32_t slot, const Writer& writer) {
  if (step != Step::fail || (telling_ != Teller::unit && (is_in_unit_ || is_of_attribute())))
    return step;
  if (telling_ == Teller::nobody)
    tell(owner, slot, written_by(writer));
  else
    tell(owner, slot, writer);
  return step;
}

}  // namespace fettle::model
