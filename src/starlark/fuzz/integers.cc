/// Integers of any size against an oracle that shares no code with them: schoolbook arithmetic on
/// decimal digits, and the identities that quotients, remainders and bits must keep.

#include <algorithm>
#include <cstdint>

#include "starlark/fuzz/fuzz.h"

namespace fettle::starlark {
namespace {

/// Digits, least first.
using Digits = std::vector<int>;

Digits digits_of(std::string_view text) {
  Digits digits;
  for (size_t i = text.size(); i-- > 0;)
    digits.push_back(text[i] - '0');
  return digits;
}
std::string text_of_digits(Digits digits) {
  while (digits.size() > 1 && digits.back() == 0)
    digits.pop_back();
  std::string text;
  for (size_t i = digits.size(); i-- > 0;)
    text += static_cast<char>('0' + digits[i]);
  return text;
}
Digits add(const Digits& a, const Digits& b) {
  Digits sum;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry > 0; ++i) {
    const int digit = (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0) + carry;
    sum.push_back(digit % 10);
    carry = digit / 10;
  }
  return sum;
}
Digits multiply(const Digits& a, const Digits& b) {
  Digits product(a.size() + b.size() + 1, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int carry = 0;
    for (size_t j = 0; j < b.size() || carry > 0; ++j) {
      const int digit = product[i + j] + (j < b.size() ? a[i] * b[j] : 0) + carry;
      product[i + j] = digit % 10;
      carry = digit / 10;
    }
  }
  return product;
}

}  // namespace
}  // namespace fettle::starlark

namespace fettle::starlark {

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2 || size > 400)
    return 0;
  const size_t middle = size / 2;
  std::string a = "1", b = "1";
  for (size_t i = 1; i < size; ++i)
    (i < middle ? a : b) += static_cast<char>('0' + data[i] % 10);
  // Repeated they are worked on in pieces; the schoolbook would take too long for these.
  const size_t repeated = (data[0] & 28) == 28 ? 1'000 : 1;
  for (size_t i = 1, short_a = a.size(), short_b = b.size(); i < repeated; ++i) {
    a.append(a, 0, short_a);
    b.append(b, 0, short_b);
  }
  Limits limits;
  limits.steps = 1'000'000 * repeated;
  Session session(Dialect::of(Profile::spec), limits);
  Thread thread(session);
  const bool negative_a = (data[0] & 1) != 0, negative_b = (data[0] & 2) != 0;
  const Handle x(thread, thread.heap().integer((negative_a ? "-" : "") + a));
  const Handle y(thread, thread.heap().integer((negative_b ? "-" : "") + b));
  const std::vector<NamedValue> names = {{"x", x}, {"y", y}};
  const auto evaluate = [&](const char* expression) {
    const auto result = thread.evaluate("<i>", expression, names);
    INVARIANT(result.has_value());
    return repr_of(thread, *result).value();
  };
  if (repeated == 1) {
    INVARIANT(evaluate("abs(x) + abs(y)") == text_of_digits(add(digits_of(a), digits_of(b))));
    INVARIANT(evaluate("abs(x) * abs(y)") == text_of_digits(multiply(digits_of(a), digits_of(b))));
  }
  for (const char* identity :
       {"(x // y) * y + x % y == x", "x % y == 0 or (x % y < 0) == (y < 0)", "abs(x % y) < abs(y)",
        "(x + y) - y == x", "(x * y) // y == x", "-(-x) == x", "~x == -x - 1",
        "(x & y) + (x | y) == x + y", "(x ^ y) == (x | y) - (x & y)", "(x << 67) >> 67 == x",
        "x << 5 == x * 32", "x >> 3 == x // 8", "int(str(x)) == x",
        "int('%x' % abs(x), 16) == abs(x)", "(x < y) == (x - y < 0)", "(x == y) == (x - y == 0)",
        "{x: 1}[x + y - y] == 1", "json.decode(json.encode(x)) == x"})
    if (evaluate(identity) != "True")
      broken_invariant(__FILE__, __LINE__, identity);
  return 0;
}

}  // namespace fettle::starlark
