#include "model/evaluate/relations.h"

#include <ranges>

#include "base/invariant.h"

namespace fettle::model {

void DelayedList::push_back(ArenaArrays<Datum>& arrays, const Datum& item) {
  const size_t count = items.size();
  auto* place = const_cast<Datum*>(items.data());
  if (count == room) {
    const uint32_t wider = ArenaArrays<Datum>::next_room(room);
    Datum* const grown = arrays.take(wider);
    std::ranges::copy(items, grown);
    if (room != 0)
      arrays.give_back(place, room);
    place = grown;
    room = wider;
  }
  place[count] = item;
  items = {place, count + 1};
}

DelayedList& Relations::of(Instance* owner, uint32_t slot) {
  Cell& cell = owner->cells[slot];
  if (DelayedList* const known = cell.delayed())
    return *known;
  if (cell.value.tag == Tag::list)
    return static_cast<DelayedList&>(const_cast<List&>(*cell.value.list));
  INVARIANT(!cell.value.is_set());
  DelayedList& made = delayed_.emplace_back();
  made.cell = &cell;
  made.owner = owner;
  made.attribute = owner->entity->slots[slot];
  cell.set_delayed(made);
  if (made.attribute->comes_before)
    consider(made);
  return made;
}

void Relations::consider(DelayedList& delayed) {
  if (delayed.is_queued || !can_freeze(delayed))
    return;
  delayed.is_queued = true;
  const uint32_t rank = delayed.attribute->precedence;
  (rank == 0 ? queue_ : ruled_[rank]).push_back(&delayed);
}

void Relations::promise(Instance* owner, uint32_t slot, Promises*& held) {
  if (owner->cells[slot].value.is_set())
    return;
  if (held == nullptr)
    held = promises_.take();
  DelayedList& delayed = of(owner, slot);
  ++delayed.promises;
  held->held.push_back(&delayed);
}

void Relations::promise_later(const Stmt* statement, Promises*& held) {
  if (held == nullptr)
    held = promises_.take();
  held->statement = statement;
  ++held->awaited;
}

void Relations::end_promise(Promises* held) {
  --held->awaited;
  give_back(held);
}

void Relations::release(DelayedList& delayed) {
  if (--delayed.promises == 0)
    consider(delayed);
}

void Relations::release(Promises*& held) {
  if (held == nullptr)
    return;
  for (DelayedList* delayed : held->held)
    release(*delayed);
  held->is_over = true;
  give_back(std::exchange(held, nullptr));
}

void Relations::give_back(Promises* held) {
  if (held->is_over && held->awaited == 0)
    promises_.give_back(held);
}

/// The next relation: those without a rule in their order, then those with one by rank. Null: none
/// is left.
DelayedList* Relations::next_queued() {
  std::deque<DelayedList*>* queue = &queue_;
  for (auto at = ruled_.begin(); queue->empty() && at != ruled_.end(); ++at)
    queue = &at->second;
  if (queue->empty())
    return nullptr;
  DelayedList* const next = queue->front();
  queue->pop_front();
  next->is_queued = false;
  return next;
}

/// Everybody waits for somebody: the first relation that is awaited breaks the circle.
DelayedList* Relations::next_in_circle() {
  size_t kept = 0;
  DelayedList* chosen = nullptr;
  for (DelayedList* next : watched_) {
    if (next->cell->value.is_set() || next->potential <= 0)
      continue;
    if (chosen == nullptr && next->promises > 0)
      chosen = next;
    watched_[kept++] = next;
  }
  watched_.resize(kept);
  return chosen;
}

DelayedList* Relations::next() {
  while (DelayedList* const next = next_queued()) {
    if (!can_freeze(*next))
      continue;
    // A relation that a rule puts before another one counts as awaited.
    if (next->potential > 0 || next->attribute->comes_before)
      return next;
    if (!next->is_in_zero)
      zero_.push_back(next);
    next->is_in_zero = true;
  }
  for (DelayedList* next : zero_)
    if (can_freeze(*next) && next->potential > 0)
      return next;
  return next_in_circle();
}

DelayedList* Relations::next_unwanted() {
  while (!zero_.empty()) {
    DelayedList* const next = zero_.back();
    zero_.pop_back();
    next->is_in_zero = false;
    if (can_freeze(*next))
      return next;
  }
  return nullptr;
}

}  // namespace fettle::model
