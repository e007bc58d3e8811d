#pragma once
/// When a relation is complete. A list or an option of an instance that somebody has asked for is a
/// `DelayedList`; this class says which of them is *frozen* next.
///
/// Any statement may add to any relation: `net.hosts += x` in a file, the inverse of `host.network
/// = net`, an implementation that has not been selected yet. So nobody can tell when the last
/// member has come. To wait for the end of the program would never let anybody read a relation. To
/// freeze a relation when it is first read would be wrong nearly always. Therefore relations are
/// frozen as late as possible, when no task can go on without one, and first those to which nobody
/// has promised anything more.
///
/// What is known about members to come is a *promise*: a task that will add to a relation, or may,
/// is counted there until it is decided. An assignment promises while its value is on its way. A
/// stream promises until all its producers have ended. An `if` or a `for` promises for the
/// assignments in its blocks to objects that are known outside (`Block::foreseen`); objects that
/// are not known yet are waited for by tasks of their own (`Task::Kind::promise`).
///
/// A relation *may be frozen* when it has no value, no promise is open, and it has at least the
/// members that its lower bound demands. The order among those that may be (`next`):
///
/// 1. relations that no rule of the project ranks (`relation_precedence_policy`), in the order in
///    which they became ready, then ranked ones by rank, if somebody waits for them or a rule puts
///    them before another relation;
/// 2. earlier ones for which nobody waited then and somebody waits now;
/// 3. when there is none of either, everybody waits for somebody: the first relation that is
///    awaited and has promises open is frozen in spite of them.
///
/// Two relations are complete without a guess: one with as many members as its upper bound allows,
/// and one that is set to null (`Assignment::add_item`, `set_empty`).
///
/// Invariants:
/// * A relation is frozen once, and its members do not change afterwards. To add one that it has
///   already is no change.
/// * A relation that lacks members of its lower bound is never frozen by 1 and 2.
/// * Each promise is released once. `Promises` holds those of one statement until that is decided
///   and no task can promise more for it.

#include <deque>
#include <map>
#include <vector>

#include "model/evaluate/task.h"

namespace fettle::model {

class Relations {
 public:
  explicit Relations(Arena& arena) : item_arrays_(arena) {}

  /// The state of a list, or of an option without a value.
  DelayedList& of(Instance* owner, uint32_t slot);
  void add(DelayedList& delayed, const Datum& item) { delayed.push_back(item_arrays_, item); }
  /// One more task waits for it.
  void await(DelayedList& delayed) {
    if (delayed.potential++ == 0)
      watched_.push_back(&delayed);
    consider(delayed);
  }
  /// The relation may have become one that can be frozen.
  void consider(DelayedList& delayed);

  /// Promises that a relation will be given a value or a member, unless it has its value.
  void promise(Instance* owner, uint32_t slot) { ++of(owner, slot).promises; }
  void promise(Instance* owner, uint32_t slot, Promises*& held);
  void release(Instance* owner, uint32_t slot) { release(of(owner, slot)); }
  void release(Promises*& held);
  /// Announces that one more task may promise something for the statement.
  void promise_later(const Stmt* statement, Promises*& held);
  void end_promise(Promises* held);

  /// The next relation that somebody waits for and that can be frozen. Null: there is none.
  DelayedList* next();
  /// A relation that can be frozen although nobody waits for it.
  DelayedList* next_unwanted();

 private:
  static bool can_freeze(const DelayedList& delayed) {
    return !delayed.cell->value.is_set() && delayed.promises == 0 &&
           delayed.items.size() >= delayed.attribute->count.lower;
  }
  DelayedList* next_queued();
  DelayedList* next_in_circle();
  void release(DelayedList& delayed);
  void give_back(Promises* held);

  std::deque<DelayedList> delayed_;
  std::deque<DelayedList*> queue_;
  std::map<uint32_t, std::deque<DelayedList*>> ruled_;  ///< the same of relations that rules rank
  std::vector<DelayedList*> zero_;                      ///< could be frozen; nobody waited
  std::vector<DelayedList*> watched_;                   ///< everything that a task ever waited on
  ArenaArrays<Datum> item_arrays_;
  Pool<Promises> promises_;
};

}  // namespace fettle::model
