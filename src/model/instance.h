#pragma once
/// What a model builds: instances, their cells, and who contributed each of them.
///
/// *Contributor*: whoever wrote a value is named by the number of an instance plus one, 0 for the
/// top level of a file. A statement of an implementation contributes for the instance whose
/// implementation it is; an argument of a constructor contributes for the constructed instance
/// itself. `Instance::maker` continues the chain: the instance whose implementation, or whose
/// constructor around this one, made it.

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

struct Cell {
  Datum value;
  Link* waiters = nullptr;
  Delayed* delayed = nullptr;
  Place set_at;
  Contributor by = 0;  ///< who set the value; of a list see `Datum::by` of its members
};

/// What a list or option relation has besides its cell.
struct Delayed {
  Cell* cell = nullptr;
  Instance* owner = nullptr;
  const Attribute* attribute = nullptr;
  std::vector<Datum> items;  ///< `Datum::by` says who added it
  std::unordered_map<const Instance*, Contributor> members;  ///< of a list longer than a few
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
