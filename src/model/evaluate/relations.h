#pragma once
/// Relations that somebody asked for and that may still grow: who promised them something, and
/// which of them is the next to be taken for complete.

#include <deque>
#include <map>
#include <vector>

#include "model/evaluate/task.h"

namespace fettle::model {

class Relations {
 public:
  explicit Relations(Arena& arena) : item_arrays_(arena) {}

  /// Of a list, or of an option without a value.
  Delayed& of(Instance* owner, uint32_t slot);
  void add(Delayed& delayed, const Datum& item) { delayed.push_back(item_arrays_, item); }
  /// One more waits for it.
  void await(Delayed& delayed) {
    if (delayed.potential++ == 0)
      watched_.push_back(&delayed);
    consider(delayed);
  }
  /// It may have become one that can be frozen.
  void consider(Delayed& delayed);

  /// That a relation, unless it has its value, will be given one or a member.
  void promise(Instance* owner, uint32_t slot) { ++of(owner, slot).promises; }
  void promise(Instance* owner, uint32_t slot, Promises*& held);
  void release(Instance* owner, uint32_t slot) { release(of(owner, slot)); }
  void release(Promises*& held);
  /// That one more task may promise something for the statement.
  void promise_later(const Stmt* statement, Promises*& held);
  void end_promise(Promises* held);

  /// The next relation that somebody waits for and that can be frozen; null when there is none.
  Delayed* next();
  /// One that can be frozen although nobody waits for it.
  Delayed* next_unwanted();

 private:
  static bool can_freeze(const Delayed& delayed) {
    return !delayed.cell->value.is_set() && delayed.promises == 0 &&
           delayed.items.size() >= delayed.attribute->count.lower;
  }
  Delayed* next_queued();
  Delayed* next_in_circle();
  void release(Delayed& delayed);
  void give_back(Promises* held);

  std::deque<Delayed> delayed_;
  std::deque<Delayed*> queue_;
  std::map<uint32_t, std::deque<Delayed*>> ruled_;  ///< the same of relations that rules rank
  std::vector<Delayed*> zero_;                      ///< could be frozen; nobody waited
  std::vector<Delayed*> watched_;                   ///< everything that a task ever waited on
  ArenaArrays<Datum> item_arrays_;
  Pool<Promises> promises_;
};

}  // namespace fettle::model
