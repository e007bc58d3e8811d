#include "model/evaluate/type_checks.h"

#include "base/text.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/frames.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"
#include "model/program/type_check.h"

namespace fettle::model {
namespace {

/// What Python takes for true.
bool is_true(const Datum& value) {
  switch (value.tag) {
    case Tag::boolean:
      return value.boolean;
    case Tag::integer:
      return value.integer != 0;
    case Tag::floating:
      return value.floating != 0;
    case Tag::text:
      return !value.view().empty();
    case Tag::list:
      return !value.list->items.empty();
    case Tag::dict:
      return !value.dict->entries.empty();
    case Tag::large:
    case Tag::reference:
    case Tag::instance:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool TypeChecks::accepts(const Type& type, const Datum& value, Reason& why) {
  return is_of(program_, type, value, why, [&](const Datum& one) {
    return one.tag != Tag::reference && type.base == Base::constrained
               ? match(*type.constraint, one, why)
               : is_item_of(program_, type, one, why);
  });
}

/// Checks a value against the base and then the condition of a typedef.
bool TypeChecks::match(const Typedef& constraint, const Datum& value, Reason& why) {
  if (!accepts(constraint.base, value, why))
    return false;
  bool is_good = false;
  if (constraint.condition->kind == ExprKind::regex) {
    is_good = value.tag == Tag::text &&
              regexes_.matches(as<Regex>(constraint.condition).pattern, value.view());
  } else {
    Frame* frame = new_frame(program_.arena, 1);
    frame->cells[0].value = value;
    Datum result;
    Task probe;
    const ScopeGuard task(now_.task, &probe);
    const ScopeGuard checking(now_.is_checking, true);
    const Step step = evaluator_.evaluate(constraint.condition, frame, result);
    if (step == Step::fail) {
      // The caller that wanted the value adds the statement.
      errors_.leave_to(Teller::itself);
      return false;
    }
    is_good = step == Step::done && (result.tag == Tag::unknown || is_true(result));
  }
  if (!is_good)
    why = {cat("Invalid value ", quoted(program_, value), ", does not match constraint `",
               describe(program_, constraint.condition), "`"),
           cat(constraint.full_name, " (", program_.location(constraint.at), ")")};
  return is_good;
}

}  // namespace fettle::model
