#include "model/evaluate/cells.h"

#include "base/text.h"
#include "model/program/text_form.h"

namespace fettle::model {

Step Cells::read(Instance* owner, uint32_t slot, Datum& value, Place at) {
  const Attribute& attribute = *owner->entity->slots[slot];
  Cell& cell = owner->cells[slot];
  if (attribute.shape >= Shape::option && !cell.value.is_set())
    relations_.of(owner, slot);
  if (const Step step = read(cell); step != Step::done)
    return step;
  value = cell.value;
  if (attribute.shape >= Shape::option)
    contributions_.read(owner, slot, at);
  else if (attribute.shape == Shape::value)
    contributions_.read_value(owner, slot, value, at);
  if (attribute.shape == Shape::option && value.tag == Tag::null)
    return errors_.fail(at,
                        cat("Optional variable accessed that has no value (attribute `",
                            attribute.owner->full_name, ".", program_.symbols.name(attribute.name),
                            "` of `", shown(program_, Datum::of(owner)), "`)"),
                        Importance::no_value, Teller::above);
  return Step::done;
}

bool Cells::read_or_null(Instance* owner, uint32_t slot, Datum& value) {
  Cell& cell = owner->cells[slot];
  const Shape shape = owner->entity->slots[slot]->shape;
  if (shape >= Shape::option && !cell.value.is_set())
    relations_.of(owner, slot);
  const bool is_there = read(cell) == Step::done;
  const Place at = now_.task == nullptr ? owner->at : now_.task->at;
  if (is_there && shape >= Shape::option)
    contributions_.read(owner, slot, at);
  else if (is_there && shape == Shape::value)
    contributions_.read_value(owner, slot, cell.value, at);
  value = cell.value;
  return is_there;
}

Cell* Cells::variable(const Name& name, Frame* frame) const {
  if (name.found == NameKind::global)
    return &program_.spaces[name.depth].frame->cells[name.slot];
  if (name.found != NameKind::local)
    return nullptr;
  for (uint32_t depth = name.depth; depth > 0; --depth)
    frame = frame->parent;
  return &frame->cells[name.slot];
}

void Cells::set(Cell& cell, const Datum& value, Place at) {
  Link* const waiters = cell.waiters();
  DelayedList* const delayed = cell.delayed();
  cell.value = value;
  cell.value.set_place(places_.number(at));
  if (waiters != nullptr)
    schedule_.wake(cell, delayed, waiters, false);
}

bool Cells::set_once(Cell& cell, const Datum& value, Place at) {
  if (cell.value.is_set()) {
    if (is_equal(cell.value, value))
      return true;
    errors_.fail(at,
                 cat("value set twice:\n\told value: ", shown(program_, cell.value),
                     "\n\t\tset at ", program_.location(places_.at(cell.value.place)),
                     "\n\tnew value: ", shown(program_, value), "\n\t\tset at ",
                     program_.location(at), "\n"),
                 Importance::twice);
    return false;
  }
  Datum known = value;
  if (known.tag == Tag::unknown) [[unlikely]]
    instances_.identify(known);
  set(cell, known, at);
  cell.value.by = now_.by;
  return true;
}

void Cells::wake_for_item(Cell& cell) {
  if (cell.value.is_set())
    return;
  Link* const waiters = cell.waiters();
  cell.set_waiters(nullptr);
  schedule_.wake(cell, cell.delayed(), waiters, true);
}

}  // namespace fettle::model
