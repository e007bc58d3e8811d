#pragma once
/// Objects that come and go by the million: what is given back is handed out again.

#include <memory>
#include <vector>

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

}  // namespace fettle::model
