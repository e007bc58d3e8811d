#pragma once
/// Memory for syntax trees that is freed all at once. Nothing in it is destroyed.

#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fettle::starlark {

class Arena {
 public:
  /// The bytes of all blocks.
  uint64_t bytes() const { return bytes_; }
  void* take(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > static_cast<size_t>(end_ - at_)) [[unlikely]]
      grow(bytes);
    void* taken = at_;
    at_ += bytes;
    return taken;
  }
  // Fields that are not given are empty: the resolver fills them in.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
  template <typename T, typename... Fields>
  T* make(Fields&&... fields) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (take(sizeof(T))) T{std::forward<Fields>(fields)...};
  }
#pragma GCC diagnostic pop
  template <typename T>
  std::span<T> copy(std::span<const T> items) {
    if (items.empty())
      return {};
    T* copied = static_cast<T*>(take(items.size_bytes()));
    std::memcpy(static_cast<void*>(copied), items.data(), items.size_bytes());
    return {copied, items.size()};
  }
  std::string_view copy(std::string_view text) {
    const std::span<char> copied = copy(std::span<const char>(text.data(), text.size()));
    return {copied.data(), copied.size()};
  }

 private:
  void grow(size_t bytes);

  struct Free {
    std::align_val_t alignment;
    void operator()(char* block) const { ::operator delete(block, alignment); }
  };
  std::vector<std::unique_ptr<char, Free>> blocks_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace fettle::starlark
