#pragma once
/// Where objects live: cells of fixed size classes in blocks, larger ones alone. Collection marks
/// from exact roots and sweeps a block when cells of its size are wanted. Nothing moves.
///
/// Every byte is counted before it is taken. Crossing the threshold only asks for a collection: it
/// happens at the next safe point of the interpreter, where every live value is in a register, a
/// global or a handle. Small objects are always given; when the limit is passed the next safe point
/// or `charge` ends the program. Large ones may be refused.

#include <functional>
#include <memory>
#include <vector>

#include "starlark/eval/objects.h"

namespace fettle::starlark {

/// The memory of all heaps of a session.
struct Budget {
  uint64_t limit = 0;
  uint64_t settled = 0;  ///< of heaps that are finished
  std::vector<Heap*> heaps;
  uint64_t used() const;
};

class Heap {
 public:
  explicit Heap(std::shared_ptr<Budget> budget);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  static constexpr size_t largest_cell = 2048;
  static constexpr uint64_t first_threshold = u64(6) << 20;

  /// An object of `bytes` with its header set; null when it is large and over the limit.
  template <typename T>
  T* make(Kind kind, size_t bytes = sizeof(T)) {
    Object* object = bytes <= largest_cell ? small(bytes) : large(bytes);
    if (object != nullptr) [[likely]] {
      object->kind = kind;
      object->flags = u8(born_ | (bytes <= largest_cell ? 0 : Object::large));
      object->extra = 0;
      object->count = 0;
    }
    return static_cast<T*>(object);
  }
  /// Gives back an object that nobody can see any more (a grown array).
  void release(Object* object, size_t bytes);

  /// Whether `bytes` more may be taken.
  bool may_take(uint64_t bytes) const;
  uint64_t used() const { return used_; }

  bool wants_collection() const { return wants_collection_; }
  bool over_limit() const;
  /// Steps for work that is done where no evaluation is known.
  void charge(uint64_t steps) {
    if (ticks != nullptr)
      *ticks -= i64(steps);
  }
  int64_t* ticks = nullptr;
  int64_t* granted = nullptr;
  /// The evaluation that works here now, and whether it is still wanted: to be asked within long
  /// work, which is given up when it is not.
  Vm* evaluation = nullptr;
  bool still_wanted() const;

  // A collection: begin, mark everything that roots hold, end. It frees nothing when the evaluation
  // is no longer wanted; when that is known at the beginning, there is nothing to mark.
  bool begin_marking();
  void mark(Value v) {
    if (v.is_object())
      mark(v.object());
  }
  void mark(Object* object) {
    if ((object->flags & (Object::marked | Object::shared)) == 0) {
      object->flags |= Object::marked;
      if ((object->flags & Object::large) == 0)
        ++block_of(object)->marked;
      if (!is_leaf(object->kind) || (object->flags & Object::indirect))
        gray_.push_back(object);
    }
  }
  void end_marking();
  uint64_t collections = 0;

  /// Everything made from now on is frozen and shared: the heap of a session's own values.
  void collect_always() { always_ = wants_collection_ = true; }
  void make_shared() { born_ = Object::frozen | Object::shared; }
  /// What must be destroyed with the heap.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  /// … and counts for so many bytes; false when they exceed the limit.
  bool keep(std::shared_ptr<void> thing, uint64_t bytes);
  /// Ends the accounting: whoever holds the heap last may be another thread.
  void settle();
  /// Recomputes when to ask for attention, after other heaps changed.
  void update_trigger();
  /// The roots that go with the heap: modules that run in it.
  std::vector<ModuleState*> modules;
  Shape* find_shape(std::span<const Value> names, uint64_t hash);
  void add_shape(Shape* shape, uint64_t hash);
  std::shared_ptr<Budget> budget;

 private:
  struct FreeCell {
    uint64_t header;
    FreeCell* next;
  };
  static constexpr size_t block_bytes = 32 * 1024;
  struct Block {
    uint16_t size_class;
    uint16_t swept;   ///< whether its free cells are known
    uint32_t marked;  ///< cells that the last collection found
    char* cells() { return reinterpret_cast<char*>(this + 1); }
    char* end() { return reinterpret_cast<char*>(this) + block_bytes; }
  };
  struct Large;
  static constexpr size_t classes = 31;
  static Block* block_of(Object* object) {
    return std::bit_cast<Block*>(std::bit_cast<uint64_t>(object) & ~u64(block_bytes - 1));
  }
  /// Kinds that hold no other object (texts apart that share a buffer).
  static bool is_leaf(Kind kind) {
    constexpr uint32_t leaves =
        1u << u8(Kind::raw) | 1u << u8(Kind::buffer) | 1u << u8(Kind::big_int) |
        1u << u8(Kind::boxed_float) | 1u << u8(Kind::string) | 1u << u8(Kind::bytes) |
        1u << u8(Kind::range) | 1u << u8(Kind::time) | 1u << u8(Kind::duration);
    return (leaves >> u8(kind) & 1) != 0;
  }
  /// Marks storage that only its owner names.
  void mark_storage(Object* object) {
    if ((object->flags & (Object::marked | Object::shared)) == 0) {
      object->flags |= Object::marked;
      if ((object->flags & Object::large) == 0)
        ++block_of(object)->marked;
    }
  }

  Object* small(size_t bytes) {
    const size_t size_class = class_of(bytes);
    FreeCell* cell = free_[size_class];
    if (cell == nullptr) [[unlikely]]
      cell = refill(size_class);
    free_[size_class] = cell->next;
    used_ += class_bytes(size_class);
    if (used_ > trigger_) [[unlikely]]
      crossed();
    return reinterpret_cast<Object*>(cell);
  }
  static size_t class_of(size_t bytes) {
    if (bytes <= 128)
      return bytes <= 16 ? 0 : (bytes - 9) / 8;
    const size_t octave = std::bit_width(bytes - 1) - 1;  // 128..255 → 7
    return 15 + (octave - 7) * 4 + ((bytes - 1) >> (octave - 2)) - 4;
  }
  static constexpr size_t class_bytes(size_t size_class) {
    if (size_class < 15)
      return 16 + 8 * size_class;
    const size_t step = size_class - 15;
    return (5 + step % 4) << (5 + step / 4);
  }
  Object* large(size_t bytes);
  FreeCell* refill(size_t size_class);
  FreeCell* sweep(Block* block);
  void sweep_large();
  bool finish_sweep();
  void crossed();
  void trace(Object* object);
  void forget_marks();
  /// The evaluation looks at its limits at the next safe point.
  void ask_for_attention();

  FreeCell* free_[classes] = {};
  uint64_t used_ = 0;
  uint64_t kept_bytes_ = 0;
  uint64_t trigger_ = first_threshold;
  uint64_t threshold_ = first_threshold;
  bool wants_collection_ = false;
  bool always_ = false;
  uint8_t born_ = 0;
  std::vector<Block*> blocks_[classes];
  size_t unswept_[classes] = {};  ///< index of the next block to sweep; size() when none
  std::vector<Block*> empty_;
  std::vector<void*> chunks_;
  char* fresh_ = nullptr;
  char* fresh_end_ = nullptr;
  std::vector<Large*> larges_;
  std::vector<Object*> gray_;
  size_t marked_since_look_ = 0;
  bool given_up_ = false;  ///< marks of a collection are left that was given up
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::pair<uint64_t, Shape*>> shapes_;
};

}  // namespace fettle::starlark
