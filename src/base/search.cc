#include "base/search.h"

#include <cstdint>
#include <cstring>

namespace fettle {
namespace {

/// Remainders of sums modulo 2^61 - 1, to compare stretches of text by one number.
constexpr uint64_t modulus = (uint64_t{1} << 61) - 1;
constexpr uint64_t base_of_hash = 0x1b873593'9e3779b9u % modulus;
uint64_t times(uint64_t a, uint64_t b) {
  __extension__ const auto product = static_cast<unsigned __int128>(a) * b;
  const uint64_t sum =
      (static_cast<uint64_t>(product) & modulus) + static_cast<uint64_t>(product >> 61);
  return sum >= modulus ? sum - modulus : sum;
}
uint64_t plus(uint64_t a, uint64_t b) { return a + b >= modulus ? a + b - modulus : a + b; }

uint8_t byte_of(char c) { return static_cast<uint8_t>(c); }

}  // namespace

size_t find_text(std::string_view text, std::string_view wanted, size_t from) {
  if (wanted.size() == 1 || wanted.empty())
    return text.find(wanted, from);
  if (from >= text.size())
    return std::string_view::npos;
  constexpr size_t short_text = 64;  // not worth the tables of `memmem`
  if (text.size() - from <= short_text)
    return text.find(wanted, from);
  const void* found = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t find_last_text(std::string_view text, std::string_view wanted) {
  const size_t size = wanted.size();
  if (size <= 1 || text.size() < size || text.size() * size <= 65536)
    return text.rfind(wanted);
  // Searches from the right with a rolling hash: linear whatever the texts are.
  uint64_t aim = 0, seen = 0, power = 1;
  for (size_t i = 0; i < size; ++i) {
    aim = plus(times(aim, base_of_hash), byte_of(wanted[size - 1 - i]));
    seen = plus(times(seen, base_of_hash), byte_of(text[text.size() - 1 - i]));
    if (i > 0)
      power = times(power, base_of_hash);
  }
  for (size_t at = text.size() - size;; --at) {
    if (seen == aim && text.substr(at, size) == wanted)
      return at;
    if (at == 0)
      return std::string_view::npos;
    const uint64_t leaving = times(power, byte_of(text[at + size - 1]));
    seen = plus(times(plus(seen, modulus - leaving), base_of_hash), byte_of(text[at - 1]));
  }
}

}  // namespace fettle
