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
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/pool.h"
#include "model/program.h"

namespace fettle::model {

struct Delayed;
struct Sink;
struct Task;

/// 0 for the top level, else the number of an instance plus one.
using Contributor = uint32_t;

/// Somebody who waits for a cell.
struct Link {
  Task* task = nullptr;
  Link* next = nullptr;
  bool wants_item = false;  ///< is content with one element
};

/// Models have millions of them, so what excludes each other shares one word: who waits while there
/// is no value, the place that set it once there is one. With a `Delayed` that holds the word.
struct Cell {
  Datum value;  ///< `Datum::by` says who set it; of a list that of its members

  Delayed* delayed() const {
    return has_delayed() ? reinterpret_cast<Delayed*>(own_word & ~delayed_mark) : nullptr;
  }
  void set_delayed(Delayed& delayed);
  Link* waiters() const { return reinterpret_cast<Link*>(word()); }
  void set_waiters(Link* first) { word() = reinterpret_cast<uint64_t>(first); }
  Place set_at() const { return std::bit_cast<Place>(word()); }
  void set_place(Place at) { word() = std::bit_cast<uint64_t>(at); }

  static constexpr uint64_t delayed_mark = uint64_t{1} << 63;  ///< `Place::is_other`
  bool has_delayed() const { return (own_word & delayed_mark) != 0; }
  uint64_t& word();
  uint64_t word() const { return const_cast<Cell*>(this)->word(); }
  uint64_t own_word = 0;
};
static_assert(sizeof(Cell) == 24);

/// Members of a relation. They move when it grows, and stay when it is frozen.
class Items {
 public:
  void push_back(ArenaArrays<Datum>& arrays, const Datum& item) {
    if (count_ == room_) {
      const uint32_t room = ArenaArrays<Datum>::next_room(room_);
      Datum* const grown = arrays.take(room);
      std::copy_n(items_, count_, grown);
      if (room_ != 0)
        arrays.give_back(items_, room_);
      items_ = grown;
      room_ = room;
    }
    items_[count_++] = item;
  }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Datum* begin() const { return items_; }
  const Datum* end() const { return items_ + count_; }
  const Datum& operator[](size_t index) const { return items_[index]; }

 private:
  Datum* items_ = nullptr;
  uint32_t count_ = 0;
  uint32_t room_ = 0;
};

/// What a list or option relation has besides its cell.
struct Delayed {
  using Members = std::unordered_map<const Instance*, Contributor>;
  Cell* cell = nullptr;
  uint64_t word = 0;  ///< of the cell
  Instance* owner = nullptr;
  const Attribute* attribute = nullptr;
  Items items;                       ///< `Datum::by` says who added it
  std::unique_ptr<Members> members;  ///< of a list longer than a few
  std::vector<Sink*> listeners;
  int potential = 0;  ///< waiters that need it frozen
  int promises = 0;
  bool is_queued = false;
  bool is_in_zero = false;
};

inline uint64_t& Cell::word() { return has_delayed() ? delayed()->word : own_word; }
inline void Cell::set_delayed(Delayed& delayed) {
  delayed.word = own_word;
  own_word = reinterpret_cast<uint64_t>(&delayed) | delayed_mark;
}

struct Instance {
  Entity* entity;
  uint32_t number;  ///< in the order of construction, from 0
  uint32_t depth;   ///< how many implementations deep it was made
  Place at;
  Contributor maker;  ///< who constructed it first
  Cell cells[1];      ///< one for each slot of the entity
};

struct Frame {
  Frame* parent;
  Instance* self;
  Cell cells[1];
};

/// A value or a member that was given once more, equal, by somebody else.
struct Repetition {
  Instance* owner;
  uint32_t slot;
  Contributor by;
  Datum value;
  Place at;
};

/// Somebody looked at all members of a relation, or asked an index for an instance.
struct Reading {
  const Instance* instance;
  uint32_t slot;  ///< of the relation; `no_slot`: the instance was asked for
  Contributor by;
  Place at;
};

/// A value that a plugin keeps for whoever asked for it, so that nobody else is given the same.
struct Allocation {
  Contributor by;
  Datum value;
};

}  // namespace fettle::model
