#include "model/evaluate/evaluator.h"

#include "base/text.h"
#include "model/evaluate/calls.h"
#include "model/evaluate/cells.h"
#include "model/evaluate/constructors.h"
#include "model/evaluate/frames.h"
#include "model/evaluate/lookups.h"
#include "model/evaluate/make_value.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

Step Evaluator::evaluate_node(const Expr* expr, Frame* frame, Datum& value, const Destination* to) {
  switch (expr->kind) {
    case ExprKind::constant:
      value = as<Constant>(expr).value;
      return Step::done;
    case ExprKind::format:
      return evaluate_format(as<Format>(expr), frame, value);
    case ExprKind::name:
      return evaluate_name(as<Name>(expr), frame, value);
    case ExprKind::attribute:
      return evaluate_attribute(as<AttributeRef>(expr), frame, value);
    case ExprKind::constructor: {
      if (now_.is_probing)
        return Step::wait;
      if (const MemoEntry* const known = schedule_.recall(*now_.task, {expr, frame})) {
        value = known->value;
        return Step::done;
      }
      return constructors_.construct(as<Constructor>(expr), frame, value, to);
    }
    case ExprKind::call: {
      if (now_.is_probing)
        return Step::wait;
      if (const MemoEntry* const known = schedule_.recall(*now_.task, {expr, frame})) {
        value = known->value;
        return Step::done;
      }
      const Step step = calls_.call(as<Call>(expr), frame, value);
      if (step == Step::done)
        schedule_.remember({expr, frame}, {value, {}});
      return step;
    }
    case ExprKind::list:
      return evaluate_list(as<ListExpr>(expr), frame, value, to);
    case ExprKind::comprehension:
      return evaluate_comprehension(as<Comprehension>(expr), frame, value);
    case ExprKind::dict:
      return evaluate_dict(as<DictExpr>(expr), frame, value);
    case ExprKind::index_lookup:
      return lookups_.in_index(as<IndexLookup>(expr).entity, as<IndexLookup>(expr).arguments, frame,
                               expr, {}, value);
    case ExprKind::short_lookup:
      return lookups_.in_relation(as<ShortLookup>(expr), frame, value);
    case ExprKind::map_lookup:
      return lookups_.in_dict(as<MapLookup>(expr), frame, value);
    case ExprKind::binary:
      return evaluate_binary(as<Binary>(expr), frame, value);
    case ExprKind::negation:
      return evaluate_negation(as<Negation>(expr), frame, value);
    case ExprKind::conditional:
      return evaluate_conditional(as<Conditional>(expr), frame, value, to);
    case ExprKind::is_defined:
      return evaluate_defined(as<IsDefined>(expr), frame, value);
    case ExprKind::regex:
      return errors_.fail(expr->at, "a regular expression is only possible in a typedef");
  }
  return Step::done;
}

Step Evaluator::evaluate_negation(const Negation& node, Frame* frame, Datum& value) {
  if (const Step step = evaluate(node.operand, frame, value); step != Step::done)
    return step;
  if (value.tag == Tag::unknown)
    return Step::done;
  if (value.tag != Tag::boolean)
    return errors_.fail(
        node.at, cat("Invalid value `", shown(program_, value), "`: `not` expects a boolean"),
        Importance::typing);
  value = Datum::of(!value.boolean);
  return Step::done;
}

Step Evaluator::evaluate_conditional(const Conditional& node, Frame* frame, Datum& value,
                                     const Destination* to) {
  Datum condition;
  if (const Step step = evaluate(node.condition, frame, condition); step != Step::done)
    return step;
  if (condition.tag == Tag::unknown) {
    value = condition;
    return Step::done;
  }
  if (condition.tag != Tag::boolean)
    return errors_.fail(
        node.condition->at,
        cat("Invalid value `", shown(program_, condition),
            "`: the condition for a conditional expression must be a boolean expression"));
  const Step step = evaluate(condition.boolean ? node.yes : node.no, frame, value, to);
  if (step == Step::fail)
    errors_.tell_if(Teller::reader, "");
  return step;
}

Step Evaluator::evaluate_name(const Name& name, Frame* frame, Datum& value) {
  switch (name.found) {
    case NameKind::local: {
      for (uint32_t depth = name.depth - std::min(name.depth, now_.skipped_frames); depth > 0;
           --depth)
        frame = frame->parent;
      Cell& cell = frame->cells[name.slot];
      value = cell.value;
      return value.is_set() ? Step::done : cells_.read(cell);
    }
    case NameKind::self_value:
      value = Datum::of(frame->self());
      return Step::done;
    case NameKind::self_attribute: {
      Instance* const self = frame->self();
      return cells_.read(self, self->entity->slot(name.name.name), value, name.at);
    }
    case NameKind::child_attribute: {
      Instance* const self = frame->self();
      if (const uint32_t slot = self->entity->slot(name.name.name); slot != no_slot)
        return cells_.read(self, slot, value, name.at);
      if (!name.is_global_otherwise)
        return errors_.fail_name(name);
      [[fallthrough]];
    }
    case NameKind::global: {
      Cell& cell = program_.spaces[name.depth].frame->cells[name.slot];
      value = cell.value;
      return value.is_set() ? Step::done : cells_.read(cell);
    }
    default:
      return errors_.fail_name(name);
  }
}

bool Evaluator::refuse_attribute(const Expr* object, Symbol name, const Datum& value, Place at,
                                 uint32_t& slot) {
  slot = value.tag == Tag::instance ? value.instance->entity->slot(name) : no_slot;
  if (slot != no_slot)
    return false;
  errors_.fail_attribute(object, name, value, at);
  return true;
}

Step Evaluator::evaluate_attribute(const AttributeRef& ref, Frame* frame, Datum& value) {
  if (ref.is_in_type)
    return errors_.fail_in_type(ref);
  Datum object;
  if (const Step step = evaluate(ref.object, frame, object); step != Step::done)
    return step;
  if (object.tag == Tag::unknown) {
    value = object;
    return Step::done;
  }
  if (object.tag == Tag::instance && ref.cached_entity == object.instance->entity)
    return cells_.read(object.instance, ref.cached_slot, value, ref.at);
  uint32_t slot = no_slot;
  if (refuse_attribute(ref.object, ref.name, object, ref.at, slot))
    return Step::fail;
  ref.cached_slot = slot;
  ref.cached_entity = object.instance->entity;
  return cells_.read(object.instance, slot, value, ref.at);
}

Step Evaluator::evaluate_format(const Format& format, Frame* frame, Datum& value) {
  std::string made;
  Step result = Step::done;
  bool is_unknown = false;
  for (const FormatPart& part : format.parts) {
    if (part.value == nullptr) {
      made += part.text;
      continue;
    }
    Datum piece;
    const Step step = evaluate(part.value, frame, piece);
    if (step == Step::fail)
      return step;
    if (step == Step::wait) {
      result = step;
      continue;
    }
    is_unknown |= piece.tag == Tag::unknown;
    if (piece.tag == Tag::reference) {
      const std::string path = describe(program_, part.value);
      return errors_.fail(format.at, cat("Encountered reference in string format for variable `",
                                         format.is_f_string ? path : cat("{{ ", path, " }}"),
                                         "`. This is not supported."));
    }
    if (is_too_long(piece))
      return errors_.fail(format.at,
                          cat(format.is_f_string ? "Invalid f-string: " : "", too_long_text));
    // The text grows by copies of itself, and is copied once more.
    const size_t size = made.size() + (piece.tag == Tag::text ? piece.view().size() : 0);
    if (budget().is_over() || !budget().has_room(2 * size))
      return errors_.fail_budget();
    if (!format.is_f_string) {
      made += interpolated(program_, piece);
      continue;
    }
    if (part.spec == nullptr) {
      made += part.conversion == 'r'   ? quoted(program_, piece)
              : part.conversion == 's' ? shown(program_, piece)
                                       : interpolated(program_, piece);
      continue;
    }
    Datum spec;
    if (const Step inner = evaluate(part.spec, frame, spec); inner != Step::done)
      return inner;
    std::string error;
    if (!format_with(program_, piece, spec.view(), made, error))
      return errors_.fail(format.at, cat("Invalid f-string: ",
                                         error.substr(error.starts_with("ValueError: ") ? 12 : 0)));
  }
  if (result == Step::done)
    value = is_unknown ? Datum::unknown() : make_text(program_, made);
  return result;
}

Step Evaluator::evaluate_list(const ListExpr& list, Frame* frame, Datum& value,
                              const Destination* to) {
  std::vector<Datum> items;
  Step result = Step::done;
  for (const Expr* expr : list.items) {
    Datum item;
    const Step step = evaluate(expr, frame, item, to);
    if (step == Step::fail)
      return step;
    if (step == Step::wait)
      result = step;
    else if (item.tag == Tag::list)
      items.insert(items.end(), item.list->items.begin(), item.list->items.end());
    else
      items.push_back(item);
    if (!budget().spend(1) || !budget().has_room(3 * items.size() * sizeof(Datum)))
      return errors_.fail_budget();
  }
  if (result == Step::done)
    value = make_list(program_, items);
  return result;
}

Step Evaluator::evaluate_dict(const DictExpr& dict, Frame* frame, Datum& value) {
  std::vector<DictEntry> entries;
  Step result = Step::done;
  for (const DictItem& item : dict.items) {
    Datum datum;
    const Step step = evaluate(item.value, frame, datum);
    if (step == Step::fail)
      return step;
    if (step == Step::wait)
      result = step;
    entries.push_back({item.key, datum});
  }
  if (result == Step::done)
    value = make_dict(program_, entries);
  return result;
}

Step Evaluator::evaluate_comprehension(const Comprehension& node, Frame* frame, Datum& value) {
  Datum iterable;
  if (const Step step = evaluate(node.iterable, frame, iterable); step != Step::done)
    return step;
  if (iterable.tag == Tag::unknown) {
    value = make_list(program_, {&iterable, 1});
    if (node.guard == nullptr)
      return Step::done;
    iterable = value;
  }
  if (iterable.tag != Tag::list)
    return errors_.fail(node.iterable->at,
                        cat("A list comprehension can only be applied to lists and relations, got ",
                            raw_type(iterable)),
                        Importance::typing);
  const std::vector<Frame*> frames = frames_of(node, frame, *iterable.list);
  std::vector<Datum> items;
  Step result = Step::done;
  for (Frame* inner : frames) {
    if (!budget().spend(1) || !budget().has_room(3 * items.size() * sizeof(Datum)))
      return errors_.fail_budget();
    const Step step = comprehend(node, inner, items);
    if (step == Step::fail)
      return step;
    if (step == Step::wait)
      result = step;
  }
  if (result == Step::done)
    value = make_list(program_, items);
  return result;
}

/// The frames of the elements. They are the same whenever the task evaluates the comprehension
/// again.
std::vector<Frame*> Evaluator::frames_of(const Comprehension& node, Frame* frame,
                                         const List& list) {
  const Memo memo{&node.iterable, frame};
  if (const MemoEntry* const known = schedule_.recall(*now_.task, memo))
    return known->frames;
  std::vector<Frame*> frames;
  for (const Datum& item : list.items) {
    Frame* inner = new_frame(program_.arena, *frame, 1);
    inner->cells[0].value = item;
    frames.push_back(inner);
  }
  schedule_.remember(memo, {{}, frames});
  return frames;
}

/// The result for one element. For an unknown one, only the guard is evaluated.
Step Evaluator::comprehend(const Comprehension& node, Frame* inner, std::vector<Datum>& items) {
  Datum item = inner->cells[0].value;
  const bool is_unknown = item.tag == Tag::unknown;
  if (is_unknown && node.guard == nullptr) {
    items.push_back(item);
    return Step::done;
  }
  Step step = Step::done;
  Datum guard = Datum::of(true);
  if (node.guard != nullptr)
    step = evaluate(node.guard, inner, guard);
  if (step == Step::done && guard.tag != Tag::boolean && guard.tag != Tag::unknown)
    return errors_.fail(
        node.at, cat("Invalid value `", shown(program_, guard),
                     "`: the condition for a conditional expression must be a boolean expression"));
  item = Datum::unknown();
  if (step == Step::done && guard.tag == Tag::boolean) {
    if (!guard.boolean)
      return Step::done;
    if (!is_unknown)
      step = evaluate(node.value, inner, item);
  }
  if (step == Step::fail) {
    errors_.tell_if(Teller::reader, reported_in(program_, static_cast<const Expr*>(&node)));
    errors_.tell_if(Teller::unit, reported_in(program_, node.value));
  } else if (step == Step::done && item.tag == Tag::list) {
    items.insert(items.end(), item.list->items.begin(), item.list->items.end());
  } else if (step == Step::done) {
    items.push_back(item);
  }
  return step;
}

Step Evaluator::evaluate_defined(const IsDefined& node, Frame* frame, Datum& value) {
  const Expr* operand = node.operand;
  Instance* owner = nullptr;
  uint32_t slot = no_slot;
  if (operand->kind == ExprKind::attribute) {
    Datum object;
    if (const Step step = evaluate(as<AttributeRef>(operand).object, frame, object);
        step != Step::done) {
      if (step == Step::fail &&
          (errors_.waits_for(Teller::itself) || errors_.waits_for(Teller::unit)))
        errors_.tell(reported_in(program_, operand));
      return step;
    }
    if (object.tag == Tag::instance) {
      owner = object.instance;
      slot = owner->entity->slot(as<AttributeRef>(operand).name);
    }
  } else if (operand->kind == ExprKind::name &&
             as<Name>(operand).found == NameKind::self_attribute) {
    owner = frame->self();
    slot = owner->entity->slot(as<Name>(operand).name.name);
  } else if (operand->kind == ExprKind::map_lookup) {
    Datum object;
    Datum key;
    if (const Step step = evaluate(as<MapLookup>(operand).object, frame, object);
        step != Step::done)
      return step;
    if (const Step step = evaluate(as<MapLookup>(operand).key, frame, key); step != Step::done)
      return step;
    const Datum* found =
        object.tag == Tag::dict && key.tag == Tag::text ? object.dict->find(key.view()) : nullptr;
    if (object.tag == Tag::dict && found == nullptr) {
      value = Datum::of(false);
      return Step::done;
    }
  }
  if (owner != nullptr && slot != no_slot && owner->entity->slots[slot]->shape >= Shape::option) {
    Cell& cell = owner->cells[slot];
    std::span<const Datum> items;
    if (!cell.value.is_set() || cell.value.tag == Tag::list)
      items = relations_.of(owner, slot).items;
    if (!items.empty() || cell.value.is_set())
      contributions_.read(owner, slot, node.at);
    if (!items.empty()) {
      value = items[0].tag == Tag::unknown ? Datum::unknown() : Datum::of(true);
      return Step::done;
    }
    if (!cell.value.is_set()) {
      cells_.wait_on(cell, true);
      return Step::wait;
    }
    value = cell.value;
  } else if (const Step step = evaluate(operand, frame, value); step != Step::done) {
    return step;
  }
  if (value.tag == Tag::unknown)
    return Step::done;
  value =
      Datum::of(value.tag != Tag::null && !(value.tag == Tag::list && value.list->items.empty()));
  return Step::done;
}

}  // namespace fettle::model
