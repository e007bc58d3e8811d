#pragma once
/// An optional value that lives on the heap: for what is large and seldom there, or large and often
/// copied. Copies share it until one of them is written to, which then gets a value of its own.
/// Safe to copy and read from several threads, as an `int` would be.

#include <atomic>
#include <cstdint>
#include <utility>

namespace fettle {

template <class T>
class Box {
 public:
  Box() = default;
  Box(T value) : held_(new Node{{1}, std::move(value)}) {}  // NOLINT
  Box(const Box& other) : held_(other.held_) {
    if (held_ != nullptr)
      held_->users.fetch_add(1, std::memory_order_relaxed);
  }
  Box(Box&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  Box& operator=(Box other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Box() { reset(); }

  explicit operator bool() const { return held_ != nullptr; }
  bool has_value() const { return held_ != nullptr; }
  const T& operator*() const { return held_->value; }
  const T* operator->() const { return &held_->value; }
  /// The object, to be written to. The reference must not be used after the next copy.
  T& edit() {
    if (held_->users.load(std::memory_order_acquire) != 1)
      *this = Box(T(held_->value));
    return held_->value;
  }
  T& emplace() { return (*this = Box(T{})).held_->value; }
  void reset() {
    if (Node* held = std::exchange(held_, nullptr);
        held != nullptr && held->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete held;
  }

 private:
  struct Node {
    std::atomic<uint32_t> users;
    T value;
  };

  Node* held_ = nullptr;
};

}  // namespace fettle
