#pragma once
/// The work of the machine: tasks, turns that are not tasks yet, and sinks of streams.

#include "model/program/instance.h"

namespace fettle::model {

/// The promises of a statement until it is decided. For objects that are not known yet, there are
/// tasks that wait. These come too late if the statement is decided first.
struct Promises {
  std::vector<DelayedList*> held;
  int awaited = 0;  ///< tasks that may still promise something
  const Stmt* statement = nullptr;
  bool is_over = false;
};

/// The target of a stream.
struct Sink {
  enum class Kind : uint8_t { relation, loop, comprehension };
  Kind kind = Kind::relation;
  int open = 0;               ///< producers that may still deliver
  Contributor by = 0;         ///< for whom they deliver
  Instance* owner = nullptr;  ///< of the relation
  uint32_t slot = 0;
  bool is_closed = false;
  bool has_promise = false;                  ///< of the relation, until it is closed
  const Stmt* statement = nullptr;           ///< of a loop the loop itself
  const Constructor* constructor = nullptr;  ///< whose argument it is
  Frame* frame = nullptr;
  const Comprehension* comprehension = nullptr;
  const Comprehension* within = nullptr;  ///< of which the comprehension is the value
  Sink* target = nullptr;
  Promises* held = nullptr;
};

/// The relation to which a constructor's result goes: for the implicit inverse and short names.
struct Destination {
  Instance* owner = nullptr;
  const Attribute* attribute = nullptr;
};

struct Memo {
  const void* node = nullptr;
  const Frame* frame = nullptr;
  bool operator==(const Memo&) const = default;
};
struct MemoHash {
  size_t operator()(const Memo& memo) const {
    return reinterpret_cast<size_t>(memo.node) * 31 + reinterpret_cast<size_t>(memo.frame);
  }
};
struct MemoEntry {
  Datum value;
  std::vector<Frame*> frames;
};
using Memory = std::unordered_map<Memo, MemoEntry, MemoHash>;

struct Task {
  enum class Kind : uint8_t {
    statement,
    promise,
    argument,
    member,
    implement,
    stream,
    guard,
    element
  };
  Kind kind = Kind::statement;
  int missing = 0;
  uint32_t number = 0;  ///< no other task ever has it, although its memory is used again
  uint32_t slot = 0;
  Frame* frame = nullptr;
  union {
    const Stmt* statement = nullptr;    ///< of a statement
    const OuterAssignment* foreseen;    ///< of a promise
    const Constructor* constructor;     ///< whose argument it is
    const AssignAttribute* assignment;  ///< of a member
    const Implement* implement;         ///< of an implement
    const Expr* list;                   ///< of a stream that is an element of it
  };
  const Expr* expr = nullptr;
  union {
    Instance* target = nullptr;  ///< of an argument, a member and an implement
    Promises* promises;          ///< of a promise
    Sink* sink;                  ///< of a stream, a guard and an element
  };
  Memory* memory = nullptr;
  Promises* held = nullptr;
  Place at;

  bool has_sink() const { return kind >= Kind::stream; }
  bool has_statement() const { return kind == Kind::statement; }
  /// The instance in whose implementation it runs. Null: outside of all.
  const Instance* self() const {
    if (kind == Kind::implement)
      return target;
    return frame == nullptr ? nullptr : frame->self();
  }
  /// The depth of this task; what it makes is one deeper.
  uint32_t depth() const {
    if (frame != nullptr)
      return frame->depth;
    return kind == Kind::implement ? target->depth : 0;
  }
  Contributor contributor() const {
    if (has_sink())
      return sink->by;
    const Instance* const by = kind == Kind::argument ? target : self();
    return by == nullptr ? 0 : by->number + 1;
  }
};

/// A task that waits only for its turn. Loops and relations make millions ready at once, so one
/// that remembers nothing yet becomes a task only when its turn comes.
struct Turn {
  enum class Kind : uint8_t { task, statement, member, implement };
  Kind kind = Kind::task;
  Contributor target = 0;  ///< of a member and an implement
  union {
    Task* task = nullptr;
    const Stmt* statement;
    const AssignAttribute* assignment;  ///< of a member
    const Implement* implement;
  };
  Frame* frame = nullptr;  ///< of a statement and a member
};
static_assert(sizeof(Turn) == 24);

}  // namespace fettle::model
