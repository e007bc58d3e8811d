#pragma once
/// Objects that come and go by the million: what is given back is handed out again.

#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "model/syntax/parser.h"

namespace fettle::model {

template <typename T>
class Pool {
 public:
  /// An object as it is made.
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
/// its first bytes; its others are those of a new one.
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
    return new (taken) T();
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

}  // namespace fettle::model
