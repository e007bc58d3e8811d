#pragma once
/// What a model builds: instances, their cells, and who contributed each of them.
///
/// *Contributor*: whoever wrote a value is named by the number of an instance plus one, 0 for the
/// top level of a file. A statement of an implementation contributes for the instance whose
/// implementation it is; an argument of a constructor contributes for the constructed instance
/// itself. `Instance::maker` continues the chain: the instance whose implementation, or whose
/// constructor around this one, made it.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/program/program.h"
#include "model/values/pool.h"

namespace fettle::model {

struct DelayedList;
struct Sink;
struct Task;

/// 0 for the top level, else the number of an instance plus one.
using Contributor = uint32_t;

/// A task that waits for a cell.
struct Link {
  Task* task = nullptr;
  Link* next = nullptr;
  bool wants_item = false;  ///< is content with one element
};

/// A value, or none yet. Models have millions of cells, so a cell without a value uses its room for
/// the tasks that wait for it or, if it is a relation that somebody asked for, for its `DelayedList`.
struct Cell {
  Datum value;

  /// Null: there is none, or there is a value.
  DelayedList* delayed() const {
    return has_delayed() ? reinterpret_cast<DelayedList*>(value.address & ~delayed_mark) : nullptr;
  }
  void set_delayed(DelayedList& delayed);
  /// Only while there is no value.
  Link* waiters() const;
  void set_waiters(Link* first);

 private:
  static constexpr uintptr_t delayed_mark = 1;  ///< no address is odd
  bool has_delayed() const { return !value.is_set() && (value.address & delayed_mark) != 0; }
};
static_assert(sizeof(Cell) == 16);

/// A list or option relation that somebody asked for: the members so far, with `Datum::by`, who
/// added each. They move when it grows. When a list is frozen, it becomes the value of its cell.
struct DelayedList : List {
  using Members = std::unordered_map<const Instance*, Contributor>;
  Cell* cell = nullptr;
  Link* waiters = nullptr;  ///< of the cell
  Instance* owner = nullptr;
  const Attribute* attribute = nullptr;
  std::unique_ptr<Members> members;  ///< of a list longer than a few
  std::vector<Sink*> listeners;
  uint32_t room = 0;  ///< how many items fit where they are
  int potential = 0;  ///< waiters that need it frozen
  int promises = 0;
  bool is_queued = false;
  bool is_in_zero = false;

  void push_back(ArenaArrays<Datum>& arrays, const Datum& item);
};

inline void Cell::set_delayed(DelayedList& delayed) {
  delayed.waiters = waiters();
  value.address = reinterpret_cast<uintptr_t>(&delayed) | delayed_mark;
}
inline Link* Cell::waiters() const {
  return has_delayed() ? delayed()->waiters : reinterpret_cast<Link*>(value.address);
}
inline void Cell::set_waiters(Link* first) {
  if (has_delayed())
    delayed()->waiters = first;
  else
    value.address = reinterpret_cast<uintptr_t>(first);
}

struct Instance {
  Entity* entity;
  uint32_t number;  ///< in the order of construction, from 0
  uint32_t depth;   ///< how many others made one another until it was made
  Place at;
  Contributor maker;  ///< who constructed it first
  Cell cells[1];      ///< one for each slot of the entity
};

/// The variables of a block. A block within another one has the same `self`.
struct Frame {
  union {
    Frame* parent;    ///< of a block in another one
    Instance* owner;  ///< of any other: in whose implementation it runs; null outside of all
  };
  uint32_t depth;  ///< of its self; in a loop of the element when that is deeper
  bool is_nested;
  Cell cells[1];

  Instance* self() const {
    const Frame* outermost = this;
    while (outermost->is_nested)
      outermost = outermost->parent;
    return outermost->owner;
  }
};
static_assert(offsetof(Frame, cells) == 16);

/// A value or a member that somebody else gave again, equal.
struct Repetition {
  Instance* owner;
  uint32_t slot;
  Contributor by;
  Datum value;
  Place at;
};

/// Somebody looked at all members of a relation or at the value of an attribute that somebody else
/// gave, or looked up an instance in an index.
struct ReadMark {
  const Instance* instance;
  uint32_t slot;  ///< of the relation or the attribute; `no_slot`: the instance was asked for
  Contributor by;
  Place at;
};

/// A value that a plugin keeps for the one who asked for it, so that nobody else gets the same.
struct Allocation {
  Contributor by;
  Datum value;
};

}  // namespace fettle::model
