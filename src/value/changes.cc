#include "value/changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

namespace fettle {
namespace {

const Value nothing = Value::dict({});

/// Values that are nested deeper are compared as a whole.
constexpr uint32_t deepest = 200;

struct Sides {
  Value before, after;
};

/// Compares values that may share parts, each of which is looked at once for what it is compared
/// with.
class Comparer {
 public:
  /// None: there is no difference.
  std::optional<Sides> compare(const Value& before, const Value& after, const Value& computed) {
    if (before.digest() == after.digest() || meaning(before, computed) == meaning(after, computed))
      return std::nullopt;
    const Pair pair{combine(before.digest(), after.digest()), computed.digest()};
    if (const auto known = compared_.find(pair); known != compared_.end())
      return known->second;
    Sides sides = differing(before, after, computed);
    compared_.emplace(pair, sides);
    return sides;
  }

 private:
  struct Pair {
    Digest values, computed;
    bool operator==(const Pair&) const = default;
  };
  struct PairHash {
    size_t operator()(const Pair& pair) const { return pair.values.low ^ pair.computed.high; }
  };

  Sides differing(const Value& before, const Value& after, const Value& computed) {
    const bool is_deep = before.depth() > deepest || after.depth() > deepest;
    if (!is_deep && before.is_dict() && after.is_dict())
      return of_dicts(before, after, computed);
    if (!is_deep && before.is_list() && after.is_list())
      return of_lists(before, after, computed);
    return {before, after};
  }

  static bool is_left_out(const Value* computed) {
    return computed != nullptr && (computed->is_null() || *computed == nothing);
  }

  Sides of_dicts(const Value& before, const Value& after, const Value& computed) {
    std::map<Name, std::pair<const Value*, const Value*>> keys;
    for (const Entry& entry : before.entries())
      keys[entry.key].first = &entry.value;
    for (const Entry& entry : after.entries())
      keys[entry.key].second = &entry.value;
    std::vector<Entry> was, now;
    for (const auto& [key, values] : keys) {
      const auto [old, made] = values;
      const Value* const below = computed.find(key);
      if (is_left_out(below))
        continue;
      std::optional<Sides> sides;
      if (old != nullptr && made != nullptr) {
        sides = compare(*old, *made, below == nullptr ? nothing : *below);
        if (!sides)
          continue;
      }
      if (old != nullptr)
        was.push_back({key, sides ? sides->before : *old});
      if (made != nullptr)
        now.push_back({key, sides ? sides->after : *made});
    }
    return {Value::dict(std::move(was)), Value::dict(std::move(now))};
  }

  Sides of_lists(const Value& before, const Value& after, const Value& computed) {
    return {Value::list(not_among(before, after, computed)),
            Value::list(not_among(after, before, computed))};
  }

  /// The items that the other list lacks. If it has fewer equal ones, the difference counts.
  std::vector<Value> not_among(const Value& list, const Value& others, const Value& computed) {
    std::map<Digest, size_t> left;
    for (const Value& other : others.items())
      ++left[meaning(other, computed)];
    std::vector<Value> found;
    for (const Value& item : list.items())
      if (size_t& count = left[meaning(item, computed)]; count > 0)
        --count;
      else
        found.push_back(item);
    return found;
  }

  /// Equal for what makes no difference.
  Digest meaning(const Value& value, const Value& computed) {
    if (value.is_bool())
      return Value(value.boolean() ? 1 : 0).digest();
    constexpr double exact = 9e15;  // below, a real and its integer are one number
    if (value.is_real() && std::abs(value.real()) < exact &&
        value.real() == std::trunc(value.real()))
      return Value(static_cast<int64_t>(value.real())).digest();
    if ((!value.is_list() && !value.is_dict()) || value.depth() > deepest)
      return value.digest();
    const Pair pair{value.digest(), computed.digest()};
    if (const auto known = meanings_.find(pair); known != meanings_.end())
      return known->second;
    const Digest digest =
        value.is_list() ? meaning_of_list(value, computed) : meaning_of_dict(value, computed);
    meanings_.emplace(pair, digest);
    return digest;
  }

  Digest meaning_of_list(const Value& list, const Value& computed) {
    std::vector<Digest> items;
    for (const Value& item : list.items())
      items.push_back(meaning(item, computed));
    std::ranges::sort(items);
    Digest digest = empty_meaning;
    for (const Digest& item : items)
      digest = combine(digest, item);
    return digest;
  }

  Digest meaning_of_dict(const Value& dict, const Value& computed) {
    Digest digest = empty_meaning;
    for (const Entry& entry : dict.entries())
      if (const Value* const below = computed.find(entry.key); !is_left_out(below))
        digest = combine(
            digest,
            combine(entry.key.digest(), meaning(entry.value, below == nullptr ? nothing : *below)));
    return digest;
  }

  static constexpr Digest empty_meaning{0, 1};

  std::unordered_map<Pair, Sides, PairHash> compared_;
  std::unordered_map<Pair, Digest, PairHash> meanings_;
};

}  // namespace

Value changes_between(const Value& before, const Value& after, const Value& computed) {
  const auto sides =
      Comparer().compare(before.is_dict() ? before : nothing, after.is_dict() ? after : nothing,
                         computed.is_dict() ? computed : nothing);
  return sides ? Value::dict({{"old", sides->before}, {"new", sides->after}}) : nothing;
}

}  // namespace fettle
