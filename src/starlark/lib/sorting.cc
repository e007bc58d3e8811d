/// The order of `sorted`.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "starlark/lib/library.h"

namespace fettle::starlark {
namespace {

/// Texts up to this size are compared without a charge.
constexpr uint32_t free_text = 256;

bool is_plain_text(const Value& v) {
  return v.is_short_text() || (is_kind(v, Kind::string) && v.object()->count <= free_text);
}

/// The order of two items that are integers or texts of moderate size. None: they are something
/// else.
std::optional<int> plain_order(const Value& x, const Value& y) {
  if (x.is_small() && y.is_small())
    return x.small() < y.small() ? -1 : x.small() > y.small();
  if (!is_plain_text(x) || !is_plain_text(y))
    return std::nullopt;
  const int found = x.same(y) ? 0 : view_of(x).compare(view_of(y));
  return found < 0 ? -1 : found > 0;
}

/// The order of two tuples of such items, in one walk. It costs as much as asking whether one is
/// less than the other and, if it is not, whether the other is less than it.
std::optional<int> tuple_order(Vm& vm, const Tuple* x, const Tuple* y) {
  const uint32_t common = std::min(x->count, y->count);
  int result = x->count < y->count ? -1 : x->count > y->count;
  uint32_t walked = 0;
  while (walked < common) {
    const std::optional<int> found = plain_order(x->items()[walked], y->items()[walked]);
    if (!found)
      return std::nullopt;
    ++walked;
    if (*found != 0) {
      result = *found;
      break;
    }
  }
  return vm.charge(u64(walked) * (result < 0 ? 1 : 2)) ? result : -2;
}

/// -1, 0, 1, or -2 after an error, of two keys.
int key_order(Vm& vm, Value x, Value y) {
  std::optional<int> found;
  if (is_tuple(x) && is_tuple(y))
    found = tuple_order(vm, as<Tuple>(x), as<Tuple>(y));
  else
    found = plain_order(x, y);
  return found ? *found : order(vm, x, y);
}

/// Up to this number, starlark-go sorts by insertion, and goes on after values that have no order.
constexpr size_t few = 20;

/// The error names the last pair without an order.
bool sort_few(Vm& vm, std::vector<std::pair<Value, Value>>& keyed, bool reverse) {
  std::optional<Failure> problem;
  for (size_t i = 1; i < keyed.size(); ++i) {
    for (size_t at = i; at > 0; --at) {
      const Value left = keyed[at - (reverse ? 1 : 0)].first;
      const Value right = keyed[at - (reverse ? 0 : 1)].first;
      const int found = key_order(vm, left, right);
      if (found == -2 && vm.failure.kind != Failure::Kind::no_order)
        return false;
      if (found == -2)
        problem = vm.take_failure();
      if (found != -1)
        break;
      std::swap(keyed[at], keyed[at - 1]);
    }
  }
  if (!problem)
    return true;
  vm.fail(std::move(*problem));
  return false;
}

/// Eight bytes of a text as a number with the same order; missing bytes count as zero.
uint64_t bytes_at(std::string_view text, size_t offset) {
  uint64_t bytes = 0;
  if (offset < text.size())
    std::memcpy(&bytes, text.data() + offset, std::min(text.size() - offset, sizeof bytes));
  return __builtin_bswap64(bytes);
}

/// The number of moves between two questions whether the result is still wanted.
constexpr size_t at_once = 1 << 16;

/// An item that is sorted by a number.
struct RankedItem {
  uint64_t rank;
  uint32_t at;  ///< of the pair
};
using Ranks = std::span<RankedItem>;

/// Sorts by rank, stably: digit by digit, from the lowest bit in which ranks differ to the highest.
/// False: nobody wants the evaluation any more.
bool sort_ranked(Vm& vm, Ranks ranked, std::vector<RankedItem>& room) {
  constexpr size_t digit = 11, few_ranked = 256;
  uint64_t differ = 0;
  bool sorted = true;
  for (size_t i = 1; i < ranked.size(); ++i) {
    differ |= ranked[i].rank ^ ranked[0].rank;
    sorted = sorted && ranked[i - 1].rank <= ranked[i].rank;
  }
  if (sorted)
    return true;
  if (ranked.size() < few_ranked) {
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const RankedItem& a, const RankedItem& b) { return a.rank < b.rank; });
    return true;
  }
  room.resize(std::max(room.size(), ranked.size()));
  if (!vm.still_wanted())
    return false;
  Ranks from = ranked, into = Ranks(room).first(ranked.size());
  for (auto shift = size_t(std::countr_zero(differ)); shift < 64 && differ >> shift != 0;
       shift += digit) {
    constexpr uint64_t mask = (1 << digit) - 1;
    if ((differ >> shift & mask) == 0)
      continue;
    std::array<uint32_t, 1 << digit> starts{};
    for (const RankedItem& each : from)
      ++starts[each.rank >> shift & mask];
    uint32_t sum = 0;
    for (uint32_t& start : starts)
      sum += std::exchange(start, sum);
    for (size_t i = 0; i < from.size(); ++i) {
      into[starts[from[i].rank >> shift & mask]++] = from[i];
      if (i % at_once == at_once - 1 && !vm.still_wanted())
        return false;
    }
    std::swap(from, into);
  }
  if (from.data() != ranked.data())
    std::ranges::copy(from, ranked.begin());
  return vm.still_wanted();
}

using KeyedValue = std::pair<Value, Value>;

/// Pairs whose keys are equal up to `offset`, and how many pairs there are.
struct Stretch {
  size_t begin;
  size_t end;
  size_t offset;
};

/// Sorts pairs by keys that are all texts: by eight bytes, and equal ones by the next eight.
bool rank_texts(Vm& vm, const std::vector<KeyedValue>& keyed, bool reverse,
                std::vector<RankedItem>& ranked) {
  std::vector<RankedItem> room;
  std::vector<Stretch> open{{0, keyed.size(), 0}};
  while (!open.empty()) {
    const size_t begin = open.back().begin, end = open.back().end, offset = open.back().offset;
    open.pop_back();
    const Ranks part = Ranks(ranked).subspan(begin, end - begin);
    // A text that ends comes before one that goes on with zeros.
    const auto length_of = [&](const RankedItem& each) {
      return std::min(view_of(keyed[each.at].first).size(), offset + 9);
    };
    const auto bytes_of = [&](const RankedItem& each) {
      return bytes_at(view_of(keyed[each.at].first), offset);
    };
    for (RankedItem& each : part)
      each.rank = reverse ? ~length_of(each) : length_of(each);
    if (!sort_ranked(vm, part, room))
      return false;
    for (RankedItem& each : part)
      each.rank = reverse ? ~bytes_of(each) : bytes_of(each);
    if (!sort_ranked(vm, part, room))
      return false;
    for (size_t i = 0, next = 0; i < part.size(); i = next) {
      size_t longer = 0;  // stands at the end, or reversed at the beginning
      for (next = i; next < part.size() && part[next].rank == part[i].rank; ++next)
        longer += length_of(part[next]) == offset + 9;
      if (longer > 1) {
        const size_t first = begin + (reverse ? i : next - longer);
        open.push_back({first, first + longer, offset + 8});
      }
    }
  }
  return true;
}

bool rank_integers(Vm& vm, const std::vector<KeyedValue>& keyed, bool reverse,
                   std::vector<RankedItem>& ranked) {
  constexpr uint64_t sign = u64(1) << 63;
  for (RankedItem& each : ranked) {
    const uint64_t rank = u64(keyed[each.at].first.small()) ^ sign;
    each.rank = reverse ? ~rank : rank;
  }
  std::vector<RankedItem> room;
  return sort_ranked(vm, ranked, room);
}

/// A merge sort that can stop; runs of 8 are sorted by insertion. Reversed order is stable too.
class MergeSort {
 public:
  MergeSort(Vm& vm, std::vector<KeyedValue>& keyed, bool reverse)
      : vm_(vm), keyed_(keyed), reverse_(reverse) {}

  /// Whether keys could not be compared.
  bool has_failed() const { return failed_; }

  bool is_sorted() {
    bool sorted = true;
    for (size_t i = 1; i < keyed_.size() && sorted && !failed_; ++i)
      sorted = !before(keyed_[i], keyed_[i - 1]);
    return sorted;
  }

  static uint64_t cost(size_t size) {
    uint64_t cost = 0;
    for (size_t width = run; width < size; width *= 2)
      cost += size;
    return cost;
  }

  bool sort() {
    for (size_t start = 0; start < keyed_.size(); start += run)
      if (!insert(start, std::min(start + run, keyed_.size())))
        return false;
    std::vector<KeyedValue> other(keyed_.size());
    for (size_t width = run; width < keyed_.size(); width *= 2) {
      for (size_t start = 0; start < keyed_.size(); start += 2 * width)
        if (!merge(start, width, other))
          return false;
      keyed_.swap(other);
    }
    return true;
  }

 private:
  static constexpr size_t run = 8;

  bool before(const KeyedValue& a, const KeyedValue& b) {
    const int order =
        reverse_ ? key_order(vm_, b.first, a.first) : key_order(vm_, a.first, b.first);
    if (order == -2)
      failed_ = true;
    return order == -1;
  }

  bool insert(size_t start, size_t end) {
    for (size_t i = start + 1; i < end; ++i) {
      const KeyedValue moved = keyed_[i];
      size_t at = i;
      for (; at > start && before(moved, keyed_[at - 1]); --at)
        keyed_[at] = keyed_[at - 1];
      keyed_[at] = moved;
      if (failed_)
        return false;
    }
    return true;
  }

  /// Two sorted stretches of `width`, which begin at `start`, into one.
  bool merge(size_t start, size_t width, std::vector<KeyedValue>& other) {
    const size_t size = keyed_.size();
    const size_t middle = std::min(start + width, size), end = std::min(start + 2 * width, size);
    size_t a = start, b = middle, out = start;
    while (a < middle && b < end) {
      other[out++] = before(keyed_[b], keyed_[a]) ? keyed_[b++] : keyed_[a++];
      if (failed_)
        return false;
    }
    while (a < middle)
      other[out++] = keyed_[a++];
    while (b < end)
      other[out++] = keyed_[b++];
    return vm_.charge(end - start);
  }

  Vm& vm_;
  std::vector<KeyedValue>& keyed_;
  const bool reverse_;
  bool failed_ = false;
};

}  // namespace

bool sort_values(Vm& vm, std::vector<KeyedValue>& keyed, bool reverse) {
  const size_t size = keyed.size();
  MergeSort merge_sort(vm, keyed, reverse);
  if (!vm.charge(size))
    return false;
  // Keys of one plain type are ranked by numbers.
  const auto all = [&](auto&& test) {
    return std::all_of(keyed.begin(), keyed.end(),
                       [&](const KeyedValue& pair) { return test(pair.first); });
  };
  const auto sort_by = [&](auto&& rank, size_t most_by_formula, uint64_t each) {
    const uint64_t cost = size <= most_by_formula  ? size * each / 8 * u64(std::bit_width(size))
                          : merge_sort.is_sorted() ? 0
                                                   : MergeSort::cost(size);
    if (!vm.charge(cost))
      return false;
    std::vector<RankedItem> ranked(size);
    for (size_t i = 0; i < size; ++i)
      ranked[i].at = u32(i);
    if (!vm.still_wanted() || !rank(vm, keyed, reverse, ranked))
      return false;
    std::vector<KeyedValue> sorted;
    sorted.reserve(size);
    for (const RankedItem& item : ranked) {
      if (sorted.size() % at_once == at_once - 1 && !vm.still_wanted())
        return false;
      sorted.push_back(keyed[item.at]);
    }
    keyed.swap(sorted);
    return true;
  };
  constexpr size_t most_ranked = 1 << 20;  // beyond that a cancellation would have to wait
  if (size <= most_ranked && all([](const Value& v) { return v.is_small(); }))
    return sort_by(rank_integers, 1 << 17, 1);
  if (size <= most_ranked &&
      all([](const Value& v) { return is_text(v) && view_of(v).size() <= 64; }))
    return sort_by(rank_texts, 1 << 16, 4);
  if (size <= few)
    return sort_few(vm, keyed, reverse);
  // Sorted input is common.
  const bool is_sorted = merge_sort.is_sorted();
  return !merge_sort.has_failed() && (is_sorted || merge_sort.sort());
}

}  // namespace fettle::starlark
