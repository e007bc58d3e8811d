#pragma once
/// What a model builds: instances, their cells, and who contributed each of them.
///
/// *Contributor*: whoever wrote a value is named by the number of an instance plus one, 0 for the
/// top level of a file. A statement of an implementation contributes for the instance whose
/// implementation it is; an argument of a constructor contributes for the constructed instance
/// itself. `Instance::maker` continues the chain: the instance whose implementation, or whose
/// constructor around this one, made it.

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

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

/// Models have millions of them, so what excludes each other shares its place.
struct Cell {
  Datum value;  ///< `Datum::by` says who set it; of a list that of its members
  union {
    Link* waiters;  ///< while there is no value
    Place set_at;   ///< once there is one
  };
  Delayed* delayed = nullptr;

  Cell() : waiters(nullptr) {}
};

/// Members of a relation, in an arena: who looks at some of them may go on while it grows.
class Items {
 public:
  void push_back(Arena& arena, const Datum& item) {
    if (count_ == room_) {
      room_ = room_ == 0 ? 4 : room_ * 2;
      auto* const grown = static_cast<Datum*>(arena.take(room_ * sizeof(Datum)));
      std::copy_n(items_, count_, grown);
      items_ = grown;
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

}  // namespace fettle::model
