#include <ranges>

#include "base/invariant.h"
#include "base/text.h"
#include "model/evaluate/machine.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"

namespace fettle::model {

void Delayed::push_back(ArenaArrays<Datum>& arrays, const Datum& item) {
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

/// Of a list, or of an option without a value.
Delayed& Machine::delayed_of(Instance* owner, uint32_t slot) {
  Cell& cell = owner->cells[slot];
  if (Delayed* const known = cell.delayed())
    return *known;
  if (cell.value.tag == Tag::list)
    return static_cast<Delayed&>(const_cast<List&>(*cell.value.list));
  INVARIANT(!cell.value.is_set());
  Delayed& made = delayed_.emplace_back();
  made.cell = &cell;
  made.owner = owner;
  made.attribute = owner->entity->slots[slot];
  cell.set_delayed(made);
  if (made.attribute->comes_before)
    consider(made);
  return made;
}

void Machine::wait_on(Cell& cell, bool wants_item) {
  if (current_ == nullptr || is_probing_)
    return;
  Link* link = links_.take();
  link->task = current_;
  link->wants_item = wants_item;
  link->next = cell.waiters();
  cell.set_waiters(link);
  ++current_->missing;
  if (Delayed* const delayed = cell.delayed()) {
    if (delayed->potential++ == 0)
      watched_.push_back(delayed);
    consider(*delayed);
  }
}

/// The value of a cell that has none, for all who wait for it.
void Machine::set(Cell& cell, const Datum& value, Place at) {
  Link* const waiters = cell.waiters();
  Delayed* const delayed = cell.delayed();
  cell.value = value;
  cell.value.set_place(places_.number(at));
  if (waiters != nullptr)
    wake(cell, delayed, waiters, false);
}

/// Wakes those who are content with an element.
void Machine::wake_for_item(Cell& cell) {
  if (cell.value.is_set())
    return;
  Link* const waiters = cell.waiters();
  cell.set_waiters(nullptr);
  wake(cell, cell.delayed(), waiters, true);
}

/// Wakes who waits for the cell; `only_item`: those who are content with an element.
void Machine::wake(Cell& cell, Delayed* delayed, Link* waiters, bool only_item) {
  // The last that came is in front: turned round, they are woken in their order.
  Link* in_order = nullptr;
  while (waiters != nullptr) {
    Link* next = waiters->next;
    waiters->next = in_order;
    in_order = waiters;
    waiters = next;
  }
  while (in_order != nullptr) {
    Link* link = in_order;
    in_order = link->next;
    if (only_item && !link->wants_item) {
      link->next = cell.waiters();
      cell.set_waiters(link);
      continue;
    }
    if (delayed != nullptr)
      --delayed->potential;
    if (--link->task->missing == 0)
      push(link->task);
    links_.give_back(link);
  }
}

bool Machine::can_freeze(const Delayed& delayed) const {
  return !delayed.cell->value.is_set() && delayed.promises == 0 &&
         delayed.items.size() >= delayed.attribute->count.lower;
}

void Machine::consider(Delayed& delayed) {
  if (delayed.is_queued || !can_freeze(delayed))
    return;
  delayed.is_queued = true;
  const uint32_t rank = delayed.attribute->precedence;
  (rank == 0 ? waiting_ : ruled_[rank]).push_back(&delayed);
}

/// How many wait for it; a relation that a rule wants before another always has somebody.
int Machine::potential_of(const Delayed& delayed) {
  return delayed.potential + (delayed.attribute->comes_before ? 1 : 0);
}

/// Relations without a rule in their order, then those with one by rank; null when none is left.
Delayed* Machine::next_waiting() {
  std::deque<Delayed*>* queue = &waiting_;
  for (auto at = ruled_.begin(); queue->empty() && at != ruled_.end(); ++at)
    queue = &at->second;
  if (queue->empty())
    return nullptr;
  Delayed* next = queue->front();
  queue->pop_front();
  return next;
}

/// That a relation, unless it has its value, will be given one or a member.
void Machine::promise(Instance* owner, uint32_t slot, Promises*& held) {
  if (owner->cells[slot].value.is_set())
    return;
  if (held == nullptr)
    held = promises_.take();
  Delayed& delayed = delayed_of(owner, slot);
  ++delayed.promises;
  held->held.push_back(&delayed);
}

void Machine::release(Delayed& delayed) {
  if (--delayed.promises == 0)
    consider(delayed);
}

void Machine::release(Promises*& held) {
  if (held == nullptr)
    return;
  for (Delayed* delayed : held->held)
    release(*delayed);
  held->is_over = true;
  give_back(std::exchange(held, nullptr));
}

void Machine::give_back(Promises* held) {
  if (held->is_over && held->awaited == 0)
    promises_.give_back(held);
}

void Machine::freeze(Delayed& delayed) {
  if (delayed.cell->value.is_set())
    return;
  const bool is_list = delayed.attribute->shape == Shape::list;
  set(*delayed.cell, is_list ? Datum::of(static_cast<const List*>(&delayed)) : Datum::null(),
      Place());
  std::vector<Sink*> listeners = std::move(delayed.listeners);
  delayed.listeners.clear();
  for (Sink* sink : listeners)
    if (--sink->open == 0)
      close(*sink);
}

/// Freezes the next relation that somebody waits for; false when there is none.
bool Machine::freeze_one() {
  while (Delayed* const awaited = next_waiting()) {
    Delayed& next = *awaited;
    next.is_queued = false;
    if (!can_freeze(next))
      continue;
    if (potential_of(next) <= 0) {
      if (!next.is_in_zero)
        zero_.push_back(&next);
      next.is_in_zero = true;
      continue;
    }
    freeze(next);
    return true;
  }
  for (Delayed* next : zero_)
    if (can_freeze(*next) && next->potential > 0) {
      freeze(*next);
      return true;
    }
  // Everybody waits for somebody: the first that is awaited breaks the circle.
  size_t kept = 0;
  Delayed* chosen = nullptr;
  for (Delayed* next : watched_) {
    if (next->cell->value.is_set() || next->potential <= 0)
      continue;
    if (chosen == nullptr && next->promises > 0)
      chosen = next;
    watched_[kept++] = next;
  }
  watched_.resize(kept);
  if (chosen != nullptr) {
    freeze(*chosen);
    return true;
  }
  bool has_frozen = false;
  while (!zero_.empty()) {
    Delayed* next = zero_.back();
    zero_.pop_back();
    next->is_in_zero = false;
    if (can_freeze(*next)) {
      freeze(*next);
      has_frozen = true;
    }
  }
  return has_frozen;
}

/// Remembers who waits. Those that are done are forgotten whenever their number has doubled.
void Machine::block(Task& task) {
  if (blocked_.size() >= most_blocked_) {
    std::erase_if(blocked_, [](const Blocked& blocked) {
      return blocked.task->number != blocked.number || blocked.task->missing <= 0;
    });
    most_blocked_ = std::max(most_blocked_, 2 * blocked_.size());
  }
  blocked_.push_back({&task, task.number});
}

/// One step of a task. False: it failed.
bool Machine::run_task(Task& task) {
  Task* const before = std::exchange(current_, &task);
  const Contributor by = std::exchange(by_, task.contributor());
  const uint32_t depth = std::exchange(depth_, task.depth());
  std::vector<std::pair<Memo, Remembered>> outer;
  if (before != nullptr)
    outer.swap(scratch_);
  const Step step = execute(task);
  if (step == Step::fail || failure_) {
    report_task(task);
    return false;
  }
  if (step == Step::wait) {
    block(task);
    if (!scratch_.empty() && task.memory == nullptr)
      task.memory = memories_.take();
    for (auto& [memo, remembered] : scratch_ | std::views::reverse)
      task.memory->try_emplace(memo, std::move(remembered));
  } else if (task.missing == 0) {
    done_.push_back(&task);
  }
  scratch_.clear();
  if (before != nullptr)
    scratch_.swap(outer);
  current_ = before;
  by_ = by;
  depth_ = depth;
  return true;
}

/// Between tasks nobody looks at those that are done, nor at closed sinks.
void Machine::give_back() {
  for (Task* task : done_) {
    if (task->held != nullptr)
      release(task->held);
    if (task->memory != nullptr)
      memories_.give_back(task->memory);
    tasks_.give_back(task);
  }
  done_.clear();
  for (Sink* sink : closed_)
    sinks_.give_back(sink);
  closed_.clear();
}

Task* Machine::task_of(const Turn& turn) {
  switch (turn.kind) {
    case Turn::Kind::task:
      return turn.task;
    case Turn::Kind::statement: {
      Task* const task = new_task(Task::Kind::statement, turn.frame);
      task->statement = turn.statement;
      task->at = turn.statement->at;
      return task;
    }
    case Turn::Kind::member: {
      Task* const task = new_task(Task::Kind::member, turn.frame);
      task->assignment = turn.assignment;
      task->expr = turn.assignment->value;
      task->at = task->expr->at;
      task->target = instances_[turn.target - 1];
      task->slot = task->target->entity->slot(turn.assignment->name);
      return task;
    }
    case Turn::Kind::implement: {
      Task* const task = new_task(Task::Kind::implement, nullptr);
      task->implement = turn.implement;
      task->target = instances_[turn.target - 1];
      task->at = task->target->at;
      return task;
    }
  }
  return nullptr;
}

/// What is urgent first, then in the order in which they became ready; null when there is none.
Task* Machine::next_ready() {
  if (!urgent_.empty()) {
    Task* const task = urgent_.front();
    urgent_.erase(urgent_.begin());
    return task;
  }
  if (ready_.empty())
    return nullptr;
  Task* const task = task_of(ready_.front());
  ready_.pop_front();
  return task;
}

bool Machine::run_ready() {
  while (Task* const task = next_ready()) {
    // What was refused within a task ended early, with a part of the value.
    if (!run_task(*task) || !budget().spend(1)) {
      if (budget().is_over()) {
        failure_ = too_much(program_);
        failure_->error.where = program_.error_at(task->at, "").where;
        failure_->error.excerpt = program_.error_at(task->at, "").excerpt;
      }
      return false;
    }
    give_back();
  }
  return true;
}

/// Defaults against the conditions of their types, which may call plugins.
bool Machine::check_defaults() {
  for (const Entity& entity : program_.entities)
    for (size_t slot = 0; slot < entity.slots.size(); ++slot) {
      const Attribute& attribute = *entity.slots[slot];
      const Datum& value = entity.defaults[slot];
      std::string why;
      if (attribute.owner != &entity || !value.is_set() || attribute.type.constraint == nullptr ||
          accepts(attribute.type, value, why))
        continue;
      fail(attribute.at, why.substr(0, why.rfind(" (reported in ")), 10);
      Place at = attribute.at;
      at.is_exact = 1;
      for (const AttributeDefinition& definition : entity.definition->attributes)
        if (definition.name == attribute.name)
          report(cat(describe(program_, definition), " (", program_.location(at), ")"), false);
      return false;
    }
  return true;
}

std::vector<Failure> Machine::run() {
  for (Space& space : program_.spaces)
    space.frame = new_frame(nullptr, nullptr, space.unit.body->locals.size());
  if (!check_defaults())
    return {*failure_};
  for (Space& space : program_.spaces)
    emit(*space.unit.body, space.frame, false);
  // No limit unless the environment sets one.
  const char* const setting = std::getenv("INMANTA_MAX_ITERATIONS");
  const long most = setting == nullptr ? 0 : std::strtol(setting, nullptr, 10);
  bool is_running = true;
  for (long rounds = 1; is_running; ++rounds) {
    if (!run_ready())
      return {*failure_};
    is_running = freeze_one() || !ready_.empty();
    if (is_running && most > 0 && rounds >= most)
      return {Failure{
          user_error(cat("Could not complete model, max_iterations ", most, " reached.")), 0}};
  }
  std::vector<Failure> failures;
  finish(failures);
  return failures;
}

}  // namespace fettle::model
