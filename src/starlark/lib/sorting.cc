/// The order of `sorted`.

#include <algorithm>
#include <bit>
#include <cstring>

#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

/// -1, 0, 1, or -2 after an error, of two keys.
int key_order(Vm& vm, Value x, Value y) {
  if (x.is_small() && y.is_small())
    return x.small() < y.small() ? -1 : x.small() > y.small();
  return order(vm, x, y);
}

/// Up to this many starlark-go sorts by insertion, and goes on after values that have no order.
constexpr size_t few = 20;

/// The last pair without an order is what the error names.
bool sort_few(Vm& vm, std::vector<std::pair<Value, Value>>& keyed, bool reverse) {
  std::string problem;
  for (size_t i = 1; i < keyed.size(); ++i) {
    for (size_t at = i; at > 0; --at) {
      const Value left = keyed[at - (reverse ? 1 : 0)].first;
      const Value right = keyed[at - (reverse ? 0 : 1)].first;
      const int found = key_order(vm, left, right);
      if (found == -2 && !vm.message.ends_with("not implemented"))
        return false;
      if (found == -2) {
        problem = std::move(vm.message);
        vm.message.clear();
        vm.failed = false;
      }
      if (found != -1)
        break;
      std::swap(keyed[at], keyed[at - 1]);
    }
  }
  if (problem.empty())
    return true;
  vm.fail(std::move(problem));
  return false;
}

/// The first eight bytes as a number that orders as they do; what is missing counts as zero.
uint64_t head_of(const Value& text) {
  uint64_t head = 0;
  if (text.is_short_text())
    head = text.word() >> 8;
  else
    std::memcpy(&head, view_of(text).data(), sizeof head);
  return __builtin_bswap64(head);
}

bool text_before(const Value& a, const Value& b) {
  const uint64_t x = head_of(a), y = head_of(b);
  return x != y ? x < y : view_of(a) < view_of(b);
}

}  // namespace

bool sort_values(Vm& vm, std::vector<std::pair<Value, Value>>& keyed, bool reverse) {
  // A merge sort that can stop; runs of 8 are sorted by insertion. Reversed order is stable too.
  using Pair = std::pair<Value, Value>;
  const size_t size = keyed.size();
  bool failed = false;
  const auto before = [&](const Pair& a, const Pair& b) {
    const int order_ = reverse ? key_order(vm, b.first, a.first) : key_order(vm, a.first, b.first);
    if (order_ == -2)
      failed = true;
    return order_ == -1;
  };
  if (!vm.charge(size))
    return false;
  // Keys of one plain type need no care.
  const auto all = [&](auto&& test) {
    return std::all_of(keyed.begin(), keyed.end(),
                       [&](const Pair& pair) { return test(pair.first); });
  };
  const auto sort_by = [&](auto&& less, uint64_t cost) {
    if (!vm.charge(size * cost / 8 * u64(std::bit_width(size))))
      return false;
    if (reverse)
      std::stable_sort(keyed.begin(), keyed.end(),
                       [&](const Pair& a, const Pair& b) { return less(b.first, a.first); });
    else
      std::stable_sort(keyed.begin(), keyed.end(),
                       [&](const Pair& a, const Pair& b) { return less(a.first, b.first); });
    return true;
  };
  constexpr size_t most_at_once = 1 << 17;  // beyond that a cancellation would have to wait
  if (size <= most_at_once && all([](const Value& v) { return v.is_small(); }))
    return sort_by([](const Value& a, const Value& b) { return a.small() < b.small(); }, 1);
  if (size <= most_at_once / 2 &&
      all([](const Value& v) { return is_text(v) && view_of(v).size() <= 64; }))
    return sort_by(text_before, 4);
  if (size <= few)
    return sort_few(vm, keyed, reverse);
  // Sorted input is common.
  bool sorted = true;
  for (size_t i = 1; i < size && sorted && !failed; ++i)
    sorted = !before(keyed[i], keyed[i - 1]);
  if (failed)
    return false;
  if (sorted)
    return true;
  constexpr size_t run = 8;
  for (size_t start = 0; start < size; start += run) {
    const size_t end = std::min(start + run, size);
    for (size_t i = start + 1; i < end; ++i) {
      const Pair moved = keyed[i];
      size_t at = i;
      for (; at > start && before(moved, keyed[at - 1]); --at)
        keyed[at] = keyed[at - 1];
      keyed[at] = moved;
      if (failed)
        return false;
    }
  }
  std::vector<Pair> other(size);
  for (size_t width = run; width < size; width *= 2) {
    for (size_t start = 0; start < size; start += 2 * width) {
      const size_t middle = std::min(start + width, size), end = std::min(start + 2 * width, size);
      size_t a = start, b = middle, out = start;
      while (a < middle && b < end) {
        other[out++] = before(keyed[b], keyed[a]) ? keyed[b++] : keyed[a++];
        if (failed)
          return false;
      }
      while (a < middle)
        other[out++] = keyed[a++];
      while (b < end)
        other[out++] = keyed[b++];
      if (!vm.charge(end - start))
        return false;
    }
    keyed.swap(other);
  }
  return true;
}

}  // namespace fettle::starlark
