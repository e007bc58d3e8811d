#include "starlark/heap/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/invariant.h"
#include "base/out_of_memory.h"
#include "starlark/code/code.h"
#include "starlark/values/references.h"

// Under the address sanitizer, free memory is overwritten, so that using it fails.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define FETTLE_POISON_CELLS
#endif
#endif

namespace fettle::starlark {

struct Heap::Large {
  uint64_t bytes;
  uint64_t spare;
  Object* object() { return reinterpret_cast<Object*>(this + 1); }
};

namespace {
constexpr size_t huge_page = size_t{2} << 20;
}  // namespace

bool Budget::draw(uint64_t bytes) {
  uint64_t now = drawn();
  do {
    if (now > most_bytes_ || bytes > most_bytes_ - now)
      return false;
  } while (!drawn_.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  return true;
}

Heap::Heap(std::shared_ptr<Budget> budget_) : budget(std::move(budget_)) {}

void Heap::settle() {
  if (used_ > drawn_)
    budget->draw_anyway(used_ - drawn_);
  else
    budget->give_back(drawn_ - used_);
  budget = nullptr;
}

Heap::~Heap() {
  if (budget != nullptr)
    budget->give_back(drawn_);
  for (void* chunk : chunks_)
    std::free(chunk);
  for (Large* large : larges_)
    std::free(large);
}

bool Heap::still_wanted() const { return evaluation == nullptr || evaluation->still_wanted(); }

void Heap::spend(uint64_t steps) {
  if (evaluation != nullptr)
    evaluation->ticks -= i64(steps);
}

void Heap::update_trigger() {
  trigger_ = wants_collection_ ? drawn_ : std::min(drawn_, threshold_);
}

void Heap::ask_for_attention() {
  if (evaluation != nullptr) {
    evaluation->granted -= evaluation->ticks;
    evaluation->ticks = 0;
  }
}

/// Called when more is used than `trigger_`.
void Heap::crossed() {
  if (used_ > threshold_)
    wants_collection_ = true;
  if (used_ > drawn_) {
    const uint64_t missing = used_ - drawn_;
    if (budget->draw(missing + budget->portion()))
      drawn_ += missing + budget->portion();
    else if (budget->draw(missing))
      drawn_ = used_;
    else
      wants_collection_ = true;
  }
  update_trigger();
  if (used_ > drawn_)
    trigger_ = ~u64(0);  // over the limit: the next safe point tells
  if (wants_collection_)
    ask_for_attention();
}

/// Keeps a portion for what comes next.
void Heap::give_back_unused() {
  if (unused() > 2 * budget->portion()) {
    const uint64_t spare = unused() - budget->portion();
    budget->give_back(spare);
    drawn_ -= spare;
  }
  update_trigger();
}

Object* Heap::large(size_t bytes) {
  if (!may_take(bytes)) {
    wants_collection_ = true;
    ask_for_attention();
    return nullptr;
  }
  const size_t whole = sizeof(Large) + bytes;
  void* memory = nullptr;
  if (whole < huge_page)
    memory = std::malloc(whole);
  else if (posix_memalign(&memory, huge_page, whole) != 0)
    memory = nullptr;
  // The program is told if it wants more than any machine has. Otherwise it is the machine that has
  // no more.
  constexpr size_t absurd = size_t{1} << 30;
  if (memory == nullptr && whole < absurd)
    out_of_memory();
  if (memory == nullptr)
    return nullptr;
  if (whole >= huge_page)
    madvise(memory, whole, MADV_HUGEPAGE);  // only speed depends on it
  auto* large = static_cast<Large*>(memory);
  large->bytes = bytes;
  larges_.push_back(large);
  used_ += bytes;
  if (used_ > trigger_)
    crossed();
  if (used_ > drawn_) {  // another heap was quicker
    larges_.pop_back();
    used_ -= bytes;
    std::free(large);
    return nullptr;
  }
  return large->object();
}

bool Heap::keep(std::shared_ptr<void> thing, uint64_t bytes) {
  // Things that are needed again and again are mostly among the newest.
  const size_t newest = kept_.size() - std::min<size_t>(kept_.size(), 16);
  if (std::find(kept_.begin() + i64(newest), kept_.end(), thing) != kept_.end())
    return true;
  if (!may_take(bytes))
    return false;
  kept_bytes_ += bytes;
  used_ += bytes;
  if (used_ > trigger_)
    crossed();
  keep(std::move(thing));
  return true;
}

void Heap::count(int64_t bytes) {
  kept_bytes_ += u64(bytes);
  used_ += u64(bytes);
  if (used_ > trigger_)
    crossed();
}

void Heap::expect_to_stay(uint64_t bytes) {
  threshold_ += bytes;
  if (used_ > drawn_)
    return;
  wants_collection_ = always_ || used_ > threshold_;
  update_trigger();
}

void Heap::release(Object* object, size_t bytes) {
  if (object->flags & Object::large) {
    // The newest are the most likely to be given back.
    Large* large = reinterpret_cast<Large*>(object) - 1;
    const size_t newest = larges_.size() > 16 ? larges_.size() - 16 : 0;
    for (size_t i = larges_.size(); i-- > newest;) {
      if (larges_[i] != large)
        continue;
      larges_[i] = larges_.back();
      larges_.pop_back();
      used_ -= large->bytes;
      std::free(large);
      give_back_unused();
      return;
    }
    object->kind = Kind::raw;  // left to the collection
    return;
  }
  const size_t size_class = class_of(bytes);
  used_ -= class_bytes(size_class);
  if (!block_of(object)->swept) {
    // So that the sweep finds it, which would otherwise take new objects for dead ones.
    object->flags &= u8(~Object::marked);
    object->kind = Kind::raw;
    return;
  }
  auto* cell = reinterpret_cast<FreeCell*>(object);
  cell->header = 0;
  cell->next = free_[size_class];
  free_[size_class] = cell;
}

Heap::FreeCell* Heap::sweep(Block* block) {
  const size_t size = class_bytes(block->size_class);
  FreeCell* list = nullptr;
  FreeCell** tail = &list;
  for (char* at = block->cells(); at + size <= block->end(); at += size) {
    auto* object = reinterpret_cast<Object*>(at);
    if (object->flags & (Object::marked | Object::shared)) {
      object->flags &= u8(~Object::marked);
      continue;
    }
    auto* cell = reinterpret_cast<FreeCell*>(at);
#ifdef FETTLE_POISON_CELLS
    std::memset(at + sizeof(FreeCell), 0xDD, size - sizeof(FreeCell));
#endif
    cell->header = 0;
    *tail = cell;
    tail = &cell->next;
  }
  *tail = nullptr;
  block->swept = 1;
  return list;
}

/// Finds a list of free cells of the class: in a block that was not swept yet, or in a new block.
Heap::FreeCell* Heap::refill(size_t size_class) {
  std::vector<Block*>& blocks = blocks_[size_class];
  while (unswept_[size_class] < blocks.size()) {
    if (FreeCell* cells = sweep(blocks[unswept_[size_class]++]); cells != nullptr)
      return cells;
  }
  Block* block;
  if (!empty_.empty()) {
    block = empty_.back();
    empty_.pop_back();
  } else {
    if (fresh_ == fresh_end_) {
      // Small programs take little: chunks grow with the heap. A huge page is one fault instead of
      // 512.
      const size_t chunk = chunks_.empty()       ? 8 * block_bytes
                           : chunks_.size() < 2  ? 32 * block_bytes
                           : chunks_.size() < 32 ? huge_page
                                                 : 2 * huge_page;
      fresh_ = static_cast<char*>(
          std::aligned_alloc(chunk < huge_page ? block_bytes : huge_page, chunk));
      if (fresh_ == nullptr)
        out_of_memory();
      if (chunk >= huge_page)
        madvise(fresh_, chunk, MADV_HUGEPAGE);  // only speed depends on it
      fresh_end_ = fresh_ + chunk;
      chunks_.push_back(fresh_);
    }
    block = reinterpret_cast<Block*>(fresh_);
    fresh_ += block_bytes;
  }
  block->size_class = u16(size_class);
  block->swept = 1;
  block->marked = 0;
  blocks.push_back(block);
  unswept_[size_class] = blocks.size();
  const size_t size = class_bytes(size_class);
  FreeCell* list = nullptr;
  FreeCell** tail = &list;
  for (char* at = block->cells(); at + size <= block->end(); at += size) {
    auto* cell = reinterpret_cast<FreeCell*>(at);
    cell->header = 0;
    *tail = cell;
    tail = &cell->next;
  }
  *tail = nullptr;
  return list;
}

bool Heap::finish_sweep() {
  for (size_t size_class = 0; size_class < classes; ++size_class) {
    std::vector<Block*>& blocks = blocks_[size_class];
    for (size_t& i = unswept_[size_class]; i < blocks.size(); ++i) {
      if (i % 64 == 63 && !still_wanted())
        return false;
      sweep(blocks[i]);
    }
  }
  return true;
}

bool Heap::begin_marking() {
  if (!finish_sweep())
    return false;
  if (given_up_)
    forget_marks();
  gray_.clear();
  shapes_.clear();
  for (std::vector<Block*>& blocks : blocks_) {
    for (Block* block : blocks)
      block->marked = 0;
  }
  ++collections;
  return true;
}

/// Clears the marks of a collection that was given up: objects that it marked may have died since.
void Heap::forget_marks() {
  for (size_t size_class = 0; size_class < classes; ++size_class) {
    const size_t size = class_bytes(size_class);
    for (Block* block : blocks_[size_class]) {
      for (char* at = block->cells(); at + size <= block->end(); at += size)
        reinterpret_cast<Object*>(at)->flags &= u8(~Object::marked);
    }
  }
  for (Large* large : larges_)
    large->object()->flags &= u8(~Object::marked);
  given_up_ = false;
}

void Heap::end_marking() {
  while (!gray_.empty() && !given_up_) {
    Object* object = gray_.back();
    gray_.pop_back();
    trace(object);
  }
  if (given_up_)
    return;
  sweep_large();
  // Counts what lives. A block without any marked cell can serve every class.
  uint64_t live = kept_bytes_;
  const uint64_t before = used_;
  for (Large* large : larges_)
    live += large->bytes;
  for (size_t size_class = 0; size_class < classes; ++size_class) {
    const size_t size = class_bytes(size_class);
    std::vector<Block*>& blocks = blocks_[size_class];
    size_t kept = 0;
    for (Block* block : blocks) {
      live += block->marked * size;
      if (block->marked == 0)
        empty_.push_back(block);
      else
        blocks[kept++] = block;
      block->swept = 0;
    }
    blocks.resize(kept);
    free_[size_class] = nullptr;
    unswept_[size_class] = 0;
  }
  used_ = live;
  // If nearly everything lives, another collection so soon would find the same. At most half of
  // what lives and 16 MB are added, with what partly used blocks hold.
  const uint64_t room = live > before / 10 * 9 ? u64(8) << 20 : u64(2) << 20;
  threshold_ = std::max(first_threshold, live + live / 2 + room);
  wants_collection_ = always_;
  give_back_unused();
  std::erase_if(owned_, [this](const std::shared_ptr<ModuleState>& module) {
    if (module->reached == collections)
      return false;
    count(-i64(module->bytes()));
    return true;
  });
}

void Heap::sweep_large() {
  std::erase_if(larges_, [](Large* large) {
    Object* object = large->object();
    if (object->flags & (Object::marked | Object::shared)) {
      object->flags &= u8(~Object::marked);
      return false;
    }
    std::free(large);
    return true;
  });
}

Shape* Heap::find_shape(std::span<const Value> names, uint64_t hash) {
  for (const auto& [known, shape] : shapes_) {
    if (known == hash && shape->count == names.size() &&
        std::equal(names.begin(), names.end(), shape->names(),
                   [](Value a, Value b) { return a.same(b) || view_of(a) == view_of(b); }))
      return shape;
  }
  return nullptr;
}

void Heap::add_shape(Shape* shape, uint64_t hash) {
  if (shapes_.size() >= 64)
    shapes_.clear();
  shapes_.emplace_back(hash, shape);
}

void Heap::mark(ModuleState& module) {
  if (module.is_frozen || module.reached == collections)
    return;
  module.reached = collections;
  const auto mark_all = [this](std::span<const Value> values) {
    for (const Value v : values)
      mark(v);
  };
  mark_all(module.globals);
  for (const Code* code : module.codes) {
    mark_all(code->constants);
    mark_all(code->register_names);
  }
}

void Heap::trace(Object* object) {
  static constexpr size_t most = 1 << 17;
  if (object->kind == Kind::function)
    mark(*static_cast<Function*>(object)->module);
  each_reference(
      object, [this](Object* storage) { mark_storage(storage); },
      [this](const Value* values, size_t count) {
        for (;;) {
          const size_t more = std::min(count, most);
          for (size_t i = 0; i < more; ++i)
            mark(values[i]);
          marked_since_look_ += more;
          if (marked_since_look_ >= most) [[unlikely]] {
            marked_since_look_ = 0;
            given_up_ = !still_wanted();
          }
          count -= more;
          values += more;
          if (count == 0 || given_up_)
            return !given_up_;
        }
      });
}

}  // namespace fettle::starlark
