#include "model/evaluate/assignment.h"

#include "base/text.h"
#include "model/evaluate/cells.h"
#include "model/evaluate/streams.h"
#include "model/evaluate/type_checks.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {

/// A reason that is reported at the place of the value.
static Reason told_of_value(std::string message) {
  return {std::move(message), "", Reason::Kind::value};
}

bool Assignment::set_slot(Instance* owner, uint32_t slot, const Datum& value,
                          const Writer& writer) {
  if (set_any(owner, slot, value, writer.at))
    return true;
  errors_.tell(owner, slot, writer);
  return false;
}

bool Assignment::set_any(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  if (owner->entity->slots[slot]->shape == Shape::list)
    return set_all(owner, slot, value, at);
  return set_value(owner, slot, value, at);
}

/// Sets a list: adds every element of a list, or one element.
bool Assignment::set_all(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  if (value.tag == Tag::null)
    return set_empty(owner, slot, at);
  if (value.tag != Tag::list)
    return add_item(owner, slot, value, at, true);
  const auto is_null = [](const Datum& item) { return item.tag == Tag::null; };
  if (owner->cells[slot].value.is_set() && std::ranges::any_of(value.list->items, is_null)) {
    return refuse_late(owner, slot, Datum::null(), at);
  }
  return std::ranges::all_of(value.list->items, [&](const Datum& item) {
    return is_null(item) ? set_empty(owner, slot, at) : add_item(owner, slot, item, at, true);
  });
}

/// Sets a list to null: it is empty and closed.
bool Assignment::set_empty(Instance* owner, uint32_t slot, Place at) {
  DelayedList& delayed = relations_.of(owner, slot);
  if (!delayed.items.empty()) {
    std::string items;
    for (const Datum& item : delayed.items)
      items += cat(items.empty() ? "" : ", ", shown(program_, item));
    errors_.fail(
        at, told_of_value(cat("Trying to set relation attribute `",
                              program_.symbols.name(delayed.attribute->name), "` of instance `",
                              shown(program_, Datum::of(owner)), "` to null but it has values `",
                              items, "` assigned already")));
    return false;
  }
  freeze(delayed);
  return true;
}

/// A relation accepts instances of its type, and unknowns.
bool Assignment::refuse_type(const Attribute& attribute, const Datum& value, Place at) {
  if (value.tag == Tag::unknown)
    return false;
  if (value.tag == Tag::instance) {
    if (value.instance->entity->is_a(attribute.target))
      return false;
    errors_.fail(at,
                 cat("Invalid class type for ", shown(program_, value), ", should be ",
                     attribute.target->full_name),
                 Importance::typing);
    return true;
  }
  errors_.fail(at,
               cat("Invalid type for value '", shown(program_, value), "', should be type ",
                   attribute.target->full_name),
               Importance::typing);
  return true;
}

/// Sets an attribute, a relation to one, or an option.
bool Assignment::set_value(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  const Attribute& attribute = *owner->entity->slots[slot];
  Cell& cell = owner->cells[slot];
  const bool was_set = cell.value.is_set();
  const bool is_empty_option = attribute.shape == Shape::option && value.tag == Tag::null;
  const bool was_empty = attribute.shape == Shape::option && cell.value.tag == Tag::null;
  if (was_set && !was_empty) {
    const Contributor first = cell.value.by;
    if (!cells_.set_once(cell, value, at))
      return false;
    contributions_.repeat(owner, slot, value, first, at);
    return true;
  }
  if (attribute.shape == Shape::value) {
    Reason why;
    if (!types_.accepts(attribute.type, value, why)) {
      errors_.fail(at, std::move(why), Importance::typing);
      return false;
    }
  } else if (!is_empty_option && refuse_type(attribute, value, at)) {
    return false;
  }
  if (was_empty && !is_empty_option)
    return refuse_late(owner, slot, value, at);
  if (!cells_.set_once(cell, value, at))
    return false;
  if (attribute.inverse != nullptr && value.tag == Tag::instance)
    return set_inverse(owner, attribute, value.instance, at);
  return true;
}

bool Assignment::set_inverse(Instance* owner, const Attribute& attribute, Instance* other,
                             Place at) {
  const uint32_t slot = other->entity->slot(attribute.inverse->name);
  if (other->entity->slots[slot]->shape == Shape::value)
    return true;  // a value of that name hides the relation
  const Datum value = Datum::of(owner);
  if (attribute.inverse->shape == Shape::list) {
    if (add_item(other, slot, value, at, false))
      return true;
  } else {
    const Cell& cell = other->cells[slot];
    if (cell.value.tag == Tag::instance && cell.value.instance == owner)
      return true;
    if (set_any(other, slot, value, at))
      return true;
  }
  errors_.tell(other, slot, reported_in(program_, other));
  return false;
}

bool Assignment::add_item(Instance* owner, uint32_t slot, const Datum& value, Place at,
                          bool sets_inverse) {
  const Attribute& attribute = *owner->entity->slots[slot];
  if (refuse_type(attribute, value, at))
    return false;
  DelayedList& delayed = relations_.of(owner, slot);
  if (value.tag == Tag::instance && is_member(delayed, owner, slot, value, at))
    return true;
  if (delayed.cell->value.is_set()) {
    if (delayed.items.size() >= attribute.count.upper)
      errors_.fail(at, told_of_value(cat("Exceeded relation arity on attribute '",
                                         program_.symbols.name(attribute.name), "' of instance '",
                                         shown(program_, Datum::of(owner)), "'")));
    else
      refuse_late(owner, slot, value, at);
    return false;
  }
  Datum added = value;
  added.by = now_.by;
  relations_.add(delayed, added);
  if (delayed.items.size() > attribute.count.upper) {
    errors_.fail(at, cat("List over full: max nr of items is ", attribute.count.upper,
                         ", content is ", shown(program_, value)));
    return false;
  }
  if (!tell_listeners(delayed, value, at))
    return false;
  cells_.wake_for_item(*delayed.cell);
  if (delayed.items.size() == attribute.count.upper)
    freeze(delayed);
  else if (delayed.potential > 0)
    relations_.consider(delayed);
  if (sets_inverse && attribute.inverse != nullptr && value.tag == Tag::instance)
    return set_inverse(owner, attribute, value.instance, at);
  return true;
}

/// Refuses a value for a relation that was taken for complete.
bool Assignment::refuse_late(Instance* owner, uint32_t slot, const Datum& value, Place at) {
  const std::string name = program_.symbols.name(owner->entity->slots[slot]->name);
  const Datum& complete = owner->cells[slot].value;
  const Place reader = cells_.place_of(complete);
  std::string members;
  if (complete.tag == Tag::list)
    for (const Datum& member : complete.list->items)
      members += cat(members.empty() ? "" : ", ", shown(program_, member));
  errors_.fail(at, told_of_value("List modified after freeze"), Importance::frozen);
  errors_->explanation =
      cat("`", name, "` of ", shown(program_, Datum::of(owner)), " was taken for complete, with ",
          members.empty() ? "no members" : members, ",",
          reader.line == 0 ? "" : cat(" when ", program_.location(reader), " read it,"), "\nand ",
          program_.location(at), " adds ", shown(program_, value),
          " to it afterwards.\nIf what is added depends on what was read, the model contradicts "
          "itself. Otherwise add it without such a\ncondition, or name a relation that has to be "
          "complete first: `relation_precedence_policy` in project.yml.");
  return false;
}

/// The listeners of a relation may change while they are told.
bool Assignment::tell_listeners(const DelayedList& delayed, const Datum& value, Place at) {
  if (delayed.listeners.empty())
    return true;
  if (delayed.listeners.size() == 1)
    return streams_.deliver(*delayed.listeners[0], value, at);
  const std::vector<Sink*> listeners = delayed.listeners;
  return std::ranges::all_of(listeners,
                             [&](Sink* sink) { return streams_.deliver(*sink, value, at); });
}

/// Whether the list has the instance already. If not, it counts as a member from now on.
bool Assignment::is_member(DelayedList& delayed, Instance* owner, uint32_t slot, const Datum& value,
                           Place at) {
  constexpr size_t few = 8;
  if (delayed.items.size() < few) {
    for (const Datum& item : delayed.items)
      if (item.tag == Tag::instance && item.instance == value.instance) {
        contributions_.repeat(owner, slot, value, item.by, at);
        return true;
      }
    return false;
  }
  if (delayed.members == nullptr) {
    delayed.members = std::make_unique<DelayedList::Members>();
    for (const Datum& item : delayed.items)
      if (item.tag == Tag::instance)
        delayed.members->emplace(item.instance, item.by);
  }
  const auto [known, is_new] = delayed.members->emplace(value.instance, now_.by);
  if (!is_new)
    contributions_.repeat(owner, slot, value, known->second, at);
  return !is_new;
}

void Assignment::freeze(DelayedList& delayed) {
  if (delayed.cell->value.is_set())
    return;
  const bool is_list = delayed.attribute->shape == Shape::list;
  const Link* reader = delayed.waiters;
  while (reader != nullptr && reader->wants_item && reader->next != nullptr)
    reader = reader->next;
  cells_.set(*delayed.cell, is_list ? Datum::of(static_cast<const List*>(&delayed)) : Datum::null(),
             reader == nullptr ? Place() : reader->task->at);
  std::vector<Sink*> listeners = std::move(delayed.listeners);
  delayed.listeners.clear();
  for (Sink* sink : listeners)
    streams_.end(*sink);
}

}  // namespace fettle::model
