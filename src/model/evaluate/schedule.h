#pragma once
/// Tasks: whose turn it is, who waits for which cell, and what each remembers.

#include <deque>
#include <vector>

#include "model/evaluate/instances.h"
#include "model/evaluate/relations.h"

namespace fettle::model {

class Schedule {
 public:
  Schedule(Arena& arena, const Instances& instances, Relations& relations)
      : instances_(instances), relations_(relations), tasks_(arena), links_(arena) {}

  Task* make(Task::Kind kind, Frame* frame);
  void push(Task* task) { ready_.push_back({.task = task}); }
  void push(const Turn& turn) { ready_.push_back(turn); }
  /// For a statement with a name that stands for nothing.
  void push_urgent(Task* task) { urgent_.push_back(task); }
  /// Urgent tasks first, then in the order in which they became ready. Null: there is none.
  Task* next();
  bool is_empty() const { return ready_.empty(); }

  /// Lets the task wait for a cell; `wants_item`: one element of it will do.
  void wait(Task& task, Cell& cell, bool wants_item = false);
  /// Wakes the tasks that wait for a cell, or only those for which one element will do.
  void wake(Cell& cell, DelayedList* delayed, Link* waiters, bool only_item);
  /// The task waits for something that is no cell, and is woken when that is there.
  void wait(Task& task) { ++task.missing; }
  /// Something else for which the task waited is there.
  void wake(Task* task) {
    if (--task->missing == 0)
      push(task);
  }

  /// What was computed for a task once and for all.
  const MemoEntry* recall(const Task& task, const Memo& memo) const {
    if (task.memory == nullptr)
      return nullptr;
    const auto found = task.memory->find(memo);
    return found == task.memory->end() ? nullptr : &found->second;
  }
  /// Remembers something for the present task. It is lost unless the task waits.
  void remember(const Memo& memo, MemoEntry what) { scratch_.emplace_back(memo, std::move(what)); }
  /// The same for a task that waits.
  void remember(Task& task, const Memo& memo, MemoEntry what);
  size_t mark() const { return scratch_.size(); }
  void keep(Task& task, size_t mark);
  void drop(size_t mark) { scratch_.resize(mark); }

  /// Remembers that a task waits.
  void block(Task& task);
  /// Visits every task that waits, in the order in which they began to.
  template <typename See>
  void each_blocked(See see) const {
    for (const auto& [task, number] : blocked_)
      if (task->number == number && task->missing > 0)
        see(*task);
  }
  /// A finished task is given back before the next one runs.
  void end(Task* task) { done_.push_back(task); }
  void give_back();

 private:
  Task* task_of(const Turn& turn);

  struct BlockedTask {
    Task* task;
    uint32_t number;  ///< another one: the task is done
  };
  const Instances& instances_;
  Relations& relations_;
  ArenaPool<Task> tasks_;
  ArenaPool<Link> links_;
  Pool<Memory> memories_;
  std::deque<Turn> ready_;
  std::vector<Task*> urgent_;
  std::vector<BlockedTask> blocked_;
  size_t most_blocked_ = 1024;  ///< before those that are done are looked for
  std::vector<Task*> done_;
  std::vector<std::pair<Memo, MemoEntry>> scratch_;  ///< of tasks under way, the outer ones first
  uint32_t task_count_ = 0;
};

}  // namespace fettle::model
