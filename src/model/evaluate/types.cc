/// Values against types: primitives, lists of them, and the conditions of typedefs.

#include "base/text.h"
#include "model/evaluate/machine.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"
#include "model/values/regex.h"

namespace fettle::model {
namespace {

bool is_primitive(Base base, const Datum& value) {
  switch (base) {
    case Base::any:
    case Base::constrained:
      return true;
    case Base::string:
      return value.tag == Tag::text;
    case Base::integer:
      return value.is_whole();
    case Base::floating:
      return value.tag == Tag::floating;
    case Base::boolean:
      return value.tag == Tag::boolean;
    case Base::number:
      return value.is_number();
    case Base::list:  // of values
      return value.tag == Tag::list &&
             std::ranges::none_of(value.list->items,
                                  [](const Datum& item) { return item.tag == Tag::instance; });
    case Base::dict:
      return value.tag == Tag::dict;
  }
  return false;
}

bool refuse(const Program& program, const Datum& value, std::string_view type, Reason& why) {
  why = {cat("Invalid value '", shown(program, value), "', expected ", type)};
  return false;
}

/// A reference stands for a value of one type.
bool refers(const Program& program, const Type& type, std::string_view name, const Datum& value,
            Reason& why) {
  if (type.base == Base::any ||
      (type.base != Base::constrained && name == value.reference->element))
    return true;
  why = {
      cat("Invalid value: ", shown(program, value), " is not a subtype of Reference[", name, "]")};
  return false;
}

/// The part of a check that needs no condition. Elements go to `check_item`.
template <typename CheckItem>
bool check(const Program& program, const Type& type, const Datum& value, Reason& why,
           CheckItem check_item) {
  if (value.tag == Tag::unknown || (value.tag == Tag::null && type.is_nullable))
    return true;
  if (!type.is_list)
    return check_item(value);
  if (value.tag == Tag::reference)
    return refers(program, type, type.name, value, why);
  if (value.tag != Tag::list)
    return refuse(program, value, type.name, why);
  return std::ranges::all_of(value.list->items, [&](const Datum& item) {
    return item.tag == Tag::unknown || check_item(item);
  });
}

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

std::string_view item_name(const Type& type) {
  return std::string_view(type.name).substr(0, type.name.find('['));
}

}  // namespace

bool is_of(const Program& program, const Type& type, const Datum& value, Reason& why) {
  return check(program, type, value, why, [&](const Datum& one) {
    if (one.tag == Tag::reference)
      return refers(program, type, item_name(type), one, why);
    return is_primitive(type.base, one) || refuse(program, one, item_name(type), why);
  });
}

bool Machine::accepts(const Type& type, const Datum& value, Reason& why) {
  return check(program_, type, value, why, [&](const Datum& one) {
    if (one.tag == Tag::reference)
      return refers(program_, type, item_name(type), one, why);
    if (type.base == Base::constrained)
      return match(*type.constraint, one, why);
    return is_primitive(type.base, one) || refuse(program_, one, item_name(type), why);
  });
}

/// A value against the base and then the condition of a typedef.
bool Machine::match(const Typedef& constraint, const Datum& value, Reason& why) {
  if (!accepts(constraint.base, value, why))
    return false;
  bool is_good = false;
  if (constraint.condition->kind == ExprKind::regex) {
    is_good = value.tag == Tag::text &&
              regexes_.matches(as<Regex>(constraint.condition).pattern, value.view());
  } else {
    Frame* frame = new_frame(1);
    frame->cells[0].value = value;
    Datum result;
    Task probe;
    const Scoped checking(now_.task, &probe);
    const Step step = evaluate(constraint.condition, frame, result);
    if (step == Step::fail) {
      // Whoever wanted the value says so around it.
      errors_.leave_to(Telling::itself);
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
