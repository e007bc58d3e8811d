#pragma once
/// Where the objects of Starlark programs live, and how garbage is found.
///
/// A program may come from anybody. It may make garbage in an endless loop, lists that contain
/// themselves, or a text of a gigabyte. It has to run in bounded memory, and the limit has to hold
/// for the program and for everything that works for it. To free everything when the program ends
/// is therefore not enough. To count references is wrong: every move between registers would count,
/// and circles would stay. A collector that moves objects would force every native function to tell
/// it of each pointer that it holds. So this heap marks and sweeps, and nothing moves.
///
/// *Cells.* An object of at most `largest_cell` bytes is a cell of one of 31 sizes. Cells of one
/// size fill a block of 32 KB, which is found by clearing the low bits of a cell's address. Larger
/// objects stand alone. An allocation takes the first free cell of its size. When there is none,
/// `refill` sweeps the next block of that size, so a sweep is spread over the allocations that
/// profit from it. A block in which nothing was marked serves any size again.
///
/// *Limits.* Every object is counted with its size. A heap draws bytes from its `Budget` in
/// portions, because other heaps may draw from it at the same time. Small objects are always given,
/// so that an allocation in the middle of native code needs no way to fail; when the limit is
/// passed, the next safe point or `charge` ends the program. A large object over the limit is
/// refused: `make` gives null.
///
/// *Collection.* When more is in use than the threshold, the heap only asks for a collection. It
/// happens at the next safe point of the interpreter (`eval/vm.h`), where each live value is in a
/// register, a global, a constant, a root or a handle. So native code may hold values in variables
/// of its own while it allocates, as long as it does not call back.
///
/// Invariants:
/// * An object stays at its address until it is freed. It is freed by a collection that did not
///   reach it, by `release`, or with the heap.
/// * Between collections a mark stands only in blocks that are not swept yet, where it says that
///   the object lives, or is left of a collection that was given up. The next collection clears
///   both before it begins.
/// * Objects that are `shared` are neither marked, traced nor freed by a collection.
/// * A collection that is given up, because nobody wants the evaluation any more, frees nothing.
/// * After a collection `used()` is the size of what it reached, although most blocks are not swept
///   yet.
/// * One thread at a time uses a heap; many use a `Budget`.

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "starlark/values/objects.h"

namespace fettle::starlark {

/// The bytes and steps that the evaluations of a session, or those that run ahead of one, may use
/// together. Heaps draw bytes in portions, and their threads do so at the same time.
class Budget {
 public:
  Budget(uint64_t most_bytes, uint64_t most_steps)
      : most_bytes_(most_bytes), most_steps_(most_steps) {}

  uint64_t most_bytes() const { return most_bytes_; }
  uint64_t drawn() const { return drawn_.load(std::memory_order_relaxed); }
  uint64_t left() const {
    const uint64_t now = drawn();
    return now < most_bytes_ ? most_bytes_ - now : 0;
  }
  bool draw(uint64_t bytes);
  /// Draws bytes whatever the limit says, for objects that exist already.
  void draw_anyway(uint64_t bytes) { drawn_.fetch_add(bytes, std::memory_order_relaxed); }
  void give_back(uint64_t bytes) { drawn_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// How much a heap draws at once.
  uint64_t portion() const { return std::min<uint64_t>(u64(1) << 18, most_bytes_ / 64); }

  uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  void add_steps(uint64_t steps) { steps_.fetch_add(steps, std::memory_order_relaxed); }
  /// How many steps are left. Without a limit, a very large number.
  uint64_t steps_left() const {
    const uint64_t now = steps();
    return most_steps_ == 0 ? ~u64(0) : now < most_steps_ ? most_steps_ - now : 0;
  }

  /// Whether somebody was refused bytes or steps.
  bool is_used_up() const { return is_used_up_.load(std::memory_order_relaxed); }
  void set_used_up() { is_used_up_.store(true, std::memory_order_relaxed); }

 private:
  const uint64_t most_bytes_;
  const uint64_t most_steps_;
  std::atomic<bool> is_used_up_{false};
  std::atomic<uint64_t> drawn_{0};
  std::atomic<uint64_t> steps_{0};
};

/// What an evaluation may still do, for code that does long work for it.
struct Work {
  /// Steps until the next look at the limits, and the number with which the countdown began.
  int64_t ticks = 0;
  int64_t granted = 0;
  /// Looks at cancellation and time alone, within long work that was charged as a whole.
  virtual bool still_wanted() = 0;

 protected:
  ~Work() = default;
};

class Heap {
 public:
  explicit Heap(std::shared_ptr<Budget> budget);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  static constexpr size_t largest_cell = 2048;
  static constexpr uint64_t first_threshold = u64(6) << 20;

  /// An object of `bytes` with its header set. Null: it is large and over the limit.
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
  /// Frees an object that nobody can see any more (an array that was outgrown).
  void release(Object* object, size_t bytes);

  /// Whether `bytes` more may be taken.
  bool may_take(uint64_t bytes) const { return bytes <= budget->left() + unused(); }
  uint64_t used() const { return used_; }

  bool wants_collection() const { return wants_collection_; }
  /// Whether small objects were given beyond the limit.
  bool over_limit() const { return used_ > drawn_ && used_ - drawn_ > budget->left(); }
  /// The evaluation that works here; null: it has ended, and nothing is made any more. Long work
  /// asks it whether it is still wanted.
  Work* evaluation = nullptr;
  bool still_wanted() const;
  /// Charges steps for work on large things.
  void spend(uint64_t steps);

  // A collection: begin, mark everything that roots hold, end. It frees nothing if nobody wants the
  // evaluation any more. If that is known at the beginning, there is nothing to mark.
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

  uint64_t next_serial() { return ++serial_; }

  /// Collects at every safe point, for tests.
  void collect_always() { always_ = wants_collection_ = true; }
  /// From now on, every new object is frozen and shared: for the heap of a session's own values.
  void make_shared() { born_ = Object::frozen | Object::shared; }
  /// Keeps something that must be destroyed together with the heap.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  /// … and that counts for this many bytes. False: they exceed the limit.
  bool keep(std::shared_ptr<void> thing, uint64_t bytes);
  /// Counts bytes outside the heap, or fewer of them.
  void count(int64_t bytes);
  /// Says that this many of the used bytes are no garbage: a collection does not come sooner
  /// because of them.
  void expect_to_stay(uint64_t bytes);
  /// Ends the accounting, since another thread may hold the heap last. Its bytes stay drawn.
  void settle();
  /// Bytes that are drawn and not used.
  uint64_t unused() const { return drawn_ > used_ ? drawn_ - used_ : 0; }
  /// The roots that belong to the heap: modules that run in it.
  std::vector<ModuleState*> modules;
  /// Takes over a module that has run. The first collection that reaches none of its functions
  /// frees it: a failed module may have left some in a list of another module.
  void own(std::shared_ptr<ModuleState> module) { owned_.push_back(std::move(module)); }
  void mark(ModuleState& module);
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
  /// Whether objects of the kind hold no others (apart from texts that share a buffer).
  static bool is_leaf(Kind kind) {
    constexpr uint32_t leaves =
        1u << u8(Kind::raw) | 1u << u8(Kind::buffer) | 1u << u8(Kind::big_int) |
        1u << u8(Kind::boxed_float) | 1u << u8(Kind::string) | 1u << u8(Kind::bytes) |
        1u << u8(Kind::range) | 1u << u8(Kind::time) | 1u << u8(Kind::duration);
    return (leaves >> u8(kind) & 1) != 0;
  }
  /// Marks storage that only its owner refers to.
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
  void update_trigger();
  void trace(Object* object);
  void forget_marks();
  /// The evaluation looks at its limits at the next safe point.
  void ask_for_attention();
  void give_back_unused();

  FreeCell* free_[classes] = {};
  uint64_t used_ = 0;
  uint64_t serial_ = 0;
  uint64_t drawn_ = 0;  ///< of the budget
  uint64_t kept_bytes_ = 0;
  uint64_t trigger_ = 0;  ///< more in use than this calls `crossed`
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
  std::vector<std::shared_ptr<ModuleState>> owned_;
  std::vector<std::pair<uint64_t, Shape*>> shapes_;
};

}  // namespace fettle::starlark
