#pragma once
/// A Starlark value in one word. The low bits tell what it is:
///
///   …000  an integer of 61 bits
///   …x01  a float whose exponent is near zero, rotated so that nothing is lost; others are boxed
///   …010  a pointer to an `Object` of a heap
///   …011  a text of at most 7 bytes, its length in the bits 3 to 5
///   …110  None, False, True and the marks that no program sees (`unset`, `error`)
///
/// Every number and text has exactly one form: an integer that fits is never boxed, nor is a short
/// text. So words that are equal mean values that are equal (but not the reverse).

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fettle::starlark {

struct Object;

// Casts with short names, for code that computes with sizes.
constexpr uint32_t u32(auto x) { return static_cast<uint32_t>(x); }
constexpr uint64_t u64(auto x) { return static_cast<uint64_t>(x); }
constexpr int64_t i64(auto x) { return static_cast<int64_t>(x); }
constexpr uint16_t u16(auto x) { return static_cast<uint16_t>(x); }
constexpr uint8_t u8(auto x) { return static_cast<uint8_t>(x); }

class Value {
 public:
  constexpr Value() : word_(none_word) {}
  static constexpr Value of_word(uint64_t word) { return Value(word); }
  static constexpr Value none() { return Value(none_word); }
  static constexpr Value boolean(bool b) { return Value(b ? true_word : false_word); }
  /// Marks a variable or argument without a value.
  static constexpr Value unset() { return Value(unset_word); }
  /// Marks a failure; the thread holds the message.
  static constexpr Value error() { return Value(error_word); }
  static Value object(const Object* object) {
    return Value(std::bit_cast<uint64_t>(object) | tag_object);
  }

  static constexpr int64_t largest_small = (int64_t{1} << 60) - 1;
  static constexpr int64_t least_small = -(int64_t{1} << 60);
  static constexpr bool fits(int64_t n) { return n >= least_small && n <= largest_small; }
  /// For an integer for which `fits` holds.
  static constexpr Value small(int64_t n) { return Value(u64(n) << 3); }
  constexpr bool is_small() const { return (word_ & 7) == 0; }
  constexpr int64_t small() const { return i64(word_) >> 3; }

  /// Whether a double has an unboxed form; `word` is that form.
  static bool packs(double x, uint64_t& word) {
    word = std::rotl(std::bit_cast<uint64_t>(x) - exponent_shift, 3);
    if ((word & 3) == 1 && word != zero_word) [[likely]]
      return true;
    if (std::bit_cast<uint64_t>(x) != 0)
      return false;
    word = zero_word;
    return true;
  }
  constexpr bool is_packed_float() const { return (word_ & 3) == 1; }
  double packed_float() const {
    if (word_ == zero_word) [[unlikely]]
      return 0.0;
    return std::bit_cast<double>(std::rotr(word_, 3) + exponent_shift);
  }

  constexpr bool is_short_text() const { return (word_ & 7) == 3; }
  static Value short_text(std::string_view text) {  ///< of at most 7 bytes
    uint64_t word = 0;
    if (!text.empty())
      std::memcpy(&word, text.data(), text.size());
    return Value(word << 8 | text.size() << 3 | 3);
  }
  /// Points into this word, so the word must stay where it is.
  std::string_view short_text() const {
    return {reinterpret_cast<const char*>(&word_) + 1, (word_ >> 3) & 7};
  }

  constexpr bool is_object() const { return (word_ & 7) == 2; }
  Object* object() const { return std::bit_cast<Object*>(word_ - tag_object); }

  constexpr bool is_none() const { return word_ == none_word; }
  constexpr bool is_bool() const { return word_ == true_word || word_ == false_word; }
  constexpr bool is_true() const { return word_ == true_word; }
  constexpr bool is_false() const { return word_ == false_word; }
  constexpr bool is_unset() const { return word_ == unset_word; }
  constexpr bool is_error() const { return word_ == error_word; }

  constexpr uint64_t word() const { return word_; }
  /// Whether the words are equal: the same object, or equal small values.
  constexpr bool same(Value other) const { return word_ == other.word_; }

 private:
  constexpr explicit Value(uint64_t word) : word_(word) {}

  static constexpr uint64_t tag_object = 2;
  static constexpr uint64_t none_word = 0x06, false_word = 0x0e, true_word = 0x16;
  static constexpr uint64_t unset_word = 0x1e, error_word = 0x26;
  static constexpr uint64_t exponent_shift = u64(256) << 52;
  static constexpr uint64_t zero_word = 1;

  uint64_t word_;
};

static_assert(sizeof(Value) == 8);

}  // namespace fettle::starlark
