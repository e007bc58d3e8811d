#include "workloads/amount.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace fettle::workloads {
namespace {

std::optional<int64_t> number_of(std::string_view digits) {
  int64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (!is_whole || digits.empty() || number < 0 || number > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return number;
}

}  // namespace

int64_t Amount::of(int64_t total, bool rounds_up) const {
  if (!is_percent)
    return number;
  const int64_t hundredths = number * total;
  return hundredths / 100 + (rounds_up && hundredths % 100 > 0 ? 1 : 0);
}

std::optional<Amount> amount_of(const Value& value) {
  if (value.is_integer()) {
    const auto number = number_of(value.integer_digits());
    return number ? std::optional(Amount{*number}) : std::nullopt;
  }
  if (!value.is_text())
    return std::nullopt;
  const Name text = value.text();
  std::string_view digits = text.view();
  const bool is_percent = digits.ends_with('%');
  if (is_percent)
    digits.remove_suffix(1);
  const auto number = number_of(digits);
  return number ? std::optional(Amount{*number, is_percent}) : std::nullopt;
}

int64_t partition_of(const std::optional<Amount>& partition, int64_t replicas) {
  if (!partition)
    return 0;
  const int64_t kept = partition->of(replicas, true);
  const bool keeps_all = kept >= replicas && replicas > 1;
  if (partition->is_percent && partition->number != 100 && keeps_all)
    return replicas - 1;
  return std::clamp<int64_t>(kept, 0, replicas);
}

}  // namespace fettle::workloads
