#pragma once
/// Keeps what a command built last: nobody waits until it is destroyed, because the process ends
/// next.

#include <deque>
#include <utility>

namespace fettle {

/// Keeps a value until the process ends, which does not take it apart. For large values that hold
/// memory only, and for one thread at a time.
template <typename T>
T& kept_until_exit(T value) {
  static std::deque<T>& kept = *new std::deque<T>();
  return kept.emplace_back(std::move(value));
}

}  // namespace fettle
