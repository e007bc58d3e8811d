/// The order of `sorted`.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

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

/// What is sorted by a number: its order is that of the keys, or nearly.
struct Ranked {
  uint64_t rank;
  uint32_t at;  ///< of the pair
};

uint64_t rank_of_integer(const Value& v) { return u64(v.small()) ^ u64(1) << 63; }

/// Sorts by rank, stably: digit by digit, from the lowest bit in which ranks differ to the highest.
void sort_ranked(std::vector<Ranked>& ranked) {
  constexpr size_t digit = 11, few_ranked = 128;
  if (ranked.size() < few_ranked) {
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
    return;
  }
  uint64_t differ = 0;
  bool sorted = true;
  for (size_t i = 1; i < ranked.size(); ++i) {
    differ |= ranked[i].rank ^ ranked[0].rank;
    sorted = sorted && ranked[i - 1].rank <= ranked[i].rank;
  }
  if (sorted)
    return;
  std::vector<Ranked> other(ranked.size());
  for (auto shift = size_t(std::countr_zero(differ)); shift < 64 && differ >> shift != 0;
       shift += digit) {
    constexpr uint64_t mask = (1 << digit) - 1;
    if ((differ >> shift & mask) == 0)
      continue;
    std::array<uint32_t, 1 << digit> starts{};
    for (const Ranked& each : ranked)
      ++starts[each.rank >> shift & mask];
    uint32_t sum = 0;
    for (uint32_t& start : starts)
      sum += std::exchange(start, sum);
    for (const Ranked& each : ranked)
      other[starts[each.rank >> shift & mask]++] = each;
    ranked.swap(other);
  }
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
  const auto sort_by = [&](auto&& rank, auto&& less, uint64_t cost) {
    if (!vm.charge(size * cost / 8 * u64(std::bit_width(size))))
      return false;
    std::vector<Ranked> ranked;
    ranked.reserve(size);
    for (size_t i = 0; i < size; ++i)
      ranked.push_back({reverse ? ~rank(keyed[i].first) : rank(keyed[i].first), u32(i)});
    sort_ranked(ranked);
    std::vector<Pair> sorted;
    sorted.reserve(size);
    for (const Ranked& each : ranked)
      sorted.push_back(keyed[each.at]);
    keyed.swap(sorted);
    // What has one rank may still differ.
    const auto in_order = [&](const Pair& a, const Pair& b) {
      return reverse ? less(b.first, a.first) : less(a.first, b.first);
    };
    for (size_t begin = 0, end = 0; begin < size; begin = end) {
      while (end < size && ranked[end].rank == ranked[begin].rank)
        ++end;
      const auto first = keyed.begin() + i64(begin), last = keyed.begin() + i64(end);
      if (!std::is_sorted(first, last, in_order))
        std::stable_sort(first, last, in_order);
    }
    return true;
  };
  constexpr size_t most_at_once = 1 << 17;  // beyond that a cancellation would have to wait
  if (size <= most_at_once && all([](const Value& v) { return v.is_small(); }))
    return sort_by(rank_of_integer, [](const Value&, const Value&) { return false; }, 1);
  if (size <= most_at_once / 2 &&
      all([](const Value& v) { return is_text(v) && view_of(v).size() <= 64; }))
    return sort_by(
        head_of, [](const Value& a, const Value& b) { return view_of(a) < view_of(b); }, 4);
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
