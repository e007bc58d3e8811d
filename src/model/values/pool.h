#pragma once
/// Objects that come and go by the million: those that are given back are used again.

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "model/values/arena.h"

namespace fettle::model {

template <typename T>
class Pool {
 public:
  /// A new or reused object, in the state of a new one.
  T* take() {
    if (spare_.empty())
      grow();
    T* taken = spare_.back();
    spare_.pop_back();
    return taken;
  }
  void give_back(T* item) {
    *item = T();
    spare_.push_back(item);
  }

 private:
  void grow() {
    constexpr size_t block = 256;
    blocks_.push_back(std::make_unique<T[]>(block));
    for (size_t i = block; i-- > 0;)
      spare_.push_back(&blocks_.back()[i]);
  }
  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<T*> spare_;
};

/// The same in an arena. An object that was given back holds the address of the next such one in
/// its first bytes; its other bytes are those of a new one.
template <typename T>
class ArenaPool {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> &&
                sizeof(T) >= sizeof(void*));

 public:
  explicit ArenaPool(Arena& arena) : arena_(arena) {}

  T* take() {
    T* const taken = spare_;
    if (taken == nullptr)
      return new (arena_.take(sizeof(T))) T();
    std::memcpy(static_cast<void*>(&spare_), static_cast<const void*>(taken), sizeof spare_);
    const T made{};
    std::memcpy(static_cast<void*>(taken), static_cast<const void*>(&made), sizeof spare_);
    return taken;
  }
  void give_back(T* item) {
    *item = T();
    std::memcpy(static_cast<void*>(item), static_cast<const void*>(&spare_), sizeof spare_);
    spare_ = item;
  }

 private:
  Arena& arena_;
  T* spare_ = nullptr;
};

/// Arrays in an arena for lists that grow. An array that was outgrown is used again. They have room
/// for 2, 3, 4, 6, 8, 12, … items.
template <typename T>
class ArenaArrays {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) >= sizeof(void*));

 public:
  explicit ArenaArrays(Arena& arena) : arena_(arena) {}

  static uint32_t next_room(uint32_t room) {
    if (room < 2)
      return 2;
    return std::has_single_bit(room) ? room / 2 * 3 : room / 3 * 4;
  }
  T* take(uint32_t room) {
    T*& spare = spare_[row_of(room)];
    if (spare == nullptr)
      return static_cast<T*>(arena_.take(room * sizeof(T)));
    T* const taken = spare;
    std::memcpy(static_cast<void*>(&spare), static_cast<const void*>(taken), sizeof spare);
    return taken;
  }
  void give_back(T* items, uint32_t room) {
    T*& spare = spare_[row_of(room)];
    std::memcpy(static_cast<void*>(items), static_cast<const void*>(&spare), sizeof spare);
    spare = items;
  }

 private:
  static size_t row_of(uint32_t room) {
    return 2 * static_cast<size_t>(std::bit_width(room)) + (std::has_single_bit(room) ? 0 : 1);
  }
  Arena& arena_;
  std::array<T*, 68> spare_{};  ///< by room; the first bytes of one are the address of the next
};

}  // namespace fettle::model
