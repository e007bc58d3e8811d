#include "model/evaluate/schedule.h"

#include <ranges>

namespace fettle::model {

Task* Schedule::make(Task::Kind kind, Frame* frame) {
  Task* task = tasks_.take();
  task->number = ++task_count_;
  task->kind = kind;
  task->frame = frame;
  return task;
}

void Schedule::wait(Task& task, Cell& cell, bool wants_item) {
  Link* link = links_.take();
  link->task = &task;
  link->wants_item = wants_item;
  link->next = cell.waiters();
  cell.set_waiters(link);
  ++task.missing;
  if (DelayedList* const delayed = cell.delayed())
    relations_.await(*delayed);
}

void Schedule::wake(Cell& cell, DelayedList* delayed, Link* waiters, bool only_item) {
  // The last that came is in front. They are turned round, to be woken in their order.
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
    wake(link->task);
    links_.give_back(link);
  }
}

/// Whatever was remembered from `mark` on belongs to the task.
void Schedule::keep(Task& task, size_t mark) {
  if (scratch_.size() == mark)
    return;
  if (task.memory == nullptr)
    task.memory = memories_.take();
  for (auto& [memo, remembered] : std::span(scratch_).subspan(mark) | std::views::reverse)
    task.memory->try_emplace(memo, std::move(remembered));
}

void Schedule::remember(Task& task, const Memo& memo, MemoEntry what) {
  if (task.memory == nullptr)
    task.memory = memories_.take();
  task.memory->try_emplace(memo, std::move(what));
}

/// Finished ones are dropped whenever their number has doubled.
void Schedule::block(Task& task) {
  if (blocked_.size() >= most_blocked_) {
    std::erase_if(blocked_, [](const BlockedTask& blocked) {
      return blocked.task->number != blocked.number || blocked.task->missing <= 0;
    });
    most_blocked_ = std::max(most_blocked_, 2 * blocked_.size());
  }
  blocked_.push_back({&task, task.number});
}

void Schedule::give_back() {
  for (Task* task : done_) {
    if (task->held != nullptr)
      relations_.release(task->held);
    if (task->memory != nullptr)
      memories_.give_back(task->memory);
    tasks_.give_back(task);
  }
  done_.clear();
}

Task* Schedule::task_of(const Turn& turn) {
  switch (turn.kind) {
    case Turn::Kind::task:
      return turn.task;
    case Turn::Kind::statement: {
      Task* const task = make(Task::Kind::statement, turn.frame);
      task->statement = turn.statement;
      task->at = turn.statement->at;
      return task;
    }
    case Turn::Kind::member: {
      Task* const task = make(Task::Kind::member, turn.frame);
      task->assignment = turn.assignment;
      task->expr = turn.assignment->value;
      task->at = task->expr->at;
      task->target = instances_.of(turn.target);
      task->slot = task->target->entity->slot(turn.assignment->name);
      return task;
    }
    case Turn::Kind::implement: {
      Task* const task = make(Task::Kind::implement, nullptr);
      task->implement = turn.implement;
      task->target = instances_.of(turn.target);
      task->at = task->target->at;
      return task;
    }
  }
  return nullptr;
}

Task* Schedule::next() {
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

}  // namespace fettle::model
