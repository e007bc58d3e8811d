#include "starlark/heap/limbs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "starlark/heap/gmp_limbs.h"
#include "starlark/heap/heap.h"

namespace fettle::starlark {
namespace {

// The largest pieces: each is some two milliseconds of work.
constexpr size_t longest_factor = 16'384;   // limbs
constexpr size_t longest_quotient = 4'096;  // limbs
constexpr size_t longest_at_once = 4'096;   // limbs that become digits
constexpr size_t digits_at_once = 39'900;   // so that five doublings reach the largest integers

bool wanted(Work& work) { return work.still_wanted(); }

void trim(Limbs& limbs) {
  while (!limbs.empty() && limbs.back() == 0)
    limbs.pop_back();
}

void multiply_piece(uint64_t* product, LimbView x, LimbView y) {
  if (x.size() < y.size())
    std::swap(x, y);
  mpn_mul(mp(product), mp(x.data()), mp_size(x.size()), mp(y.data()), mp_size(y.size()));
}

uint8_t digit_value(char c) { return u8(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); }

bool read_piece(std::string_view text, int radix, Limbs& limbs) {
  std::vector<uint8_t> values(text.size());
  std::ranges::transform(text, values.begin(), digit_value);
  limbs.resize(size_t(double(text.size()) * std::log2(radix) / 64) + 2);
  limbs.resize(size_t(mpn_set_str(mp(limbs.data()), values.data(), values.size(), radix)));
  trim(limbs);
  return true;
}

/// The powers radix ** (digits_at_once · 2 ** i).
class Powers {
 public:
  Powers(Work& work, int radix) : work_(work), radix_(radix) {
    read_piece("1" + std::string(digits_at_once, '0'), radix, powers_.emplace_back());
  }

  size_t count() const { return powers_.size(); }
  const Limbs& operator[](size_t i) const { return powers_[i]; }
  bool add_square() {
    Limbs square;
    if (!multiply_limbs(work_, powers_.back(), powers_.back(), square))
      return false;
    trim(square);
    powers_.push_back(std::move(square));
    return true;
  }

  /// Writes `x`, which is less than power `level`, with the zeros in front of it.
  bool write(LimbView x, size_t level, char* out) const {
    if (level == 0)
      return write_piece(x, out);
    const Limbs& power = powers_[level - 1];
    Limbs high, low(x.begin(), x.end());
    if (x.size() >= power.size() && !divide_limbs(work_, x, power, high, low))
      return false;
    trim(high);
    trim(low);
    return write(high, level - 1, out) &&
           write(low, level - 1, out + (digits_at_once << (level - 1)));
  }

  bool read(std::string_view text, size_t level, Limbs& limbs) const {
    if (level == 0)
      return read_piece(text, radix_, limbs) && wanted(work_);
    const size_t width = digits_at_once << (level - 1);
    if (text.size() <= width)
      return read(text, level - 1, limbs);
    Limbs high, low;
    if (!read(text.substr(0, text.size() - width), level - 1, high) ||
        !read(text.substr(text.size() - width), level - 1, low))
      return false;
    if (high.empty()) {
      limbs = std::move(low);
      return true;
    }
    if (!multiply_limbs(work_, high, powers_[level - 1], limbs))
      return false;
    if (!low.empty())
      mpn_add(mp(limbs.data()), mp(limbs.data()), mp_size(limbs.size()), mp(low.data()),
              mp_size(low.size()));
    trim(limbs);
    return true;
  }

 private:
  bool write_piece(LimbView x, char* out) const {
    std::string digits;
    if (!x.empty() && !write_digits(work_, x, radix_, digits))
      return false;
    std::fill_n(out, digits_at_once - digits.size(), '0');
    std::ranges::copy(digits, out + (digits_at_once - digits.size()));
    return wanted(work_);
  }

  Work& work_;
  int radix_;
  std::vector<Limbs> powers_;
};

}  // namespace

bool multiply_limbs(Work& work, LimbView x, LimbView y, Limbs& product) {
  product.assign(x.size() + y.size(), 0);
  if (std::max(x.size(), y.size()) <= longest_factor) {
    multiply_piece(product.data(), x, y);
    return true;
  }
  Limbs piece(2 * longest_factor);
  for (size_t i = 0; i < x.size(); i += longest_factor) {
    for (size_t j = 0; j < y.size(); j += longest_factor) {
      const LimbView a = x.subspan(i, std::min(longest_factor, x.size() - i));
      const LimbView b = y.subspan(j, std::min(longest_factor, y.size() - j));
      multiply_piece(piece.data(), a, b);
      uint64_t* const sum = product.data() + i + j;
      mpn_add(mp(sum), mp(sum), mp_size(product.size() - i - j), mp(piece.data()),
              mp_size(a.size() + b.size()));
      if (!wanted(work))
        return false;
    }
  }
  return true;
}

// Long division whose digits are pieces of `longest_quotient` limbs.
bool divide_limbs(Work& work, LimbView x, LimbView y, Limbs& quotient, Limbs& remainder) {
  quotient.resize(x.size() - y.size() + 1);
  remainder.resize(y.size());
  const auto divide = [&](uint64_t* into, LimbView part) {
    mpn_tdiv_qr(mp(into), mp(remainder.data()), 0, mp(part.data()), mp_size(part.size()),
                mp(y.data()), mp_size(y.size()));
  };
  size_t at = (quotient.size() - 1) / longest_quotient * longest_quotient;
  divide(quotient.data() + at, x.subspan(at));
  if (at == 0)
    return true;
  Limbs part(longest_quotient + y.size()), piece(longest_quotient + 1);
  while (at > 0) {
    if (!wanted(work))
      return false;
    at -= longest_quotient;
    std::ranges::copy(x.subspan(at, longest_quotient), part.begin());
    std::ranges::copy(remainder, part.begin() + longest_quotient);
    // The highest limb of the piece is zero, for the remainder is less than the divisor.
    divide(piece.data(), part);
    std::copy_n(piece.begin(), longest_quotient, quotient.begin() + i64(at));
  }
  return true;
}

bool write_digits(Work& work, LimbView x, int radix, std::string& text) {
  const size_t before = text.size();
  if (x.size() <= longest_at_once || std::has_single_bit(unsigned(radix))) {
    Limbs scratch(x.begin(), x.end());
    text.resize(before + mpn_sizeinbase(mp(x.data()), mp_size(x.size()), radix) + 1);
    auto* const digits = reinterpret_cast<unsigned char*>(text.data()) + before;
    text.resize(before + mpn_get_str(digits, radix, mp(scratch.data()), mp_size(scratch.size())));
    for (size_t i = before; i < text.size(); ++i)
      text[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[u8(text[i])];
  } else {
    Powers powers(work, radix);
    while (x.size() > 2 * powers[powers.count() - 1].size() - 2) {
      if (!powers.add_square())
        return false;
    }
    text.resize(before + (digits_at_once << powers.count()));
    if (!powers.write(x, powers.count(), text.data() + before))
      return false;
  }
  text.erase(before, std::min(text.find_first_not_of('0', before), text.size() - 1) - before);
  return true;
}

bool read_digits(Work& work, std::string_view text, int radix, Limbs& limbs) {
  if (text.size() <= 2 * digits_at_once || std::has_single_bit(unsigned(radix)))
    return read_piece(text, radix, limbs);
  Powers powers(work, radix);
  while (digits_at_once << powers.count() < text.size()) {
    if (!powers.add_square())
      return false;
  }
  return powers.read(text, powers.count(), limbs);
}

}  // namespace fettle::starlark
