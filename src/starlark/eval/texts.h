#pragma once
/// Texts: searching, views, formatting.

#include <algorithm>

#include "base/search.h"
#include "starlark/eval/ops.h"

namespace fettle::starlark {

/// Charges for a search of `wanted` bytes in `text` bytes.
inline bool charge_search(Vm& vm, size_t text, size_t wanted) {
  const size_t each = wanted < 2 ? 0 : 64 + std::min<size_t>(wanted, 256);
  return vm.charge(text / 16 + text * each / 128);
}
/// `find_text` that charges for the bytes it looked at. False: a limit is reached.
bool find_charged(Vm& vm, std::string_view text, std::string_view wanted, size_t& at);

bool next_of_view(Vm& vm, const View& view, int64_t& position, Value& item);
std::optional<int64_t> length_of_view(const View& view);
Value index_of_view(Vm& vm, const View& view, int64_t index);

/// The code point at the start of `text`, and its length. U+FFFD: the byte begins none.
uint32_t decode(std::string_view text, size_t& length);

/// The evaluation's buffer for a text that is being made, empty; one at a time.
class Scratch {
 public:
  explicit Scratch(Vm& vm) : text(vm.scratch) { text.clear(); }
  ~Scratch() {
    constexpr size_t most_kept = 1 << 20;
    if (text.capacity() > most_kept)
      text = std::string();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string& text;
};

/// White space of Unicode.
bool is_space(uint32_t c);
inline bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/// Whether a space begins at `at`; `length` is that of the code point.
inline bool is_space_at(std::string_view text, size_t at, size_t& length) {
  length = 1;
  if (static_cast<uint8_t>(text[at]) < 0x80)
    return is_ascii_space(text[at]);
  return is_space(decode(text.substr(at), length));
}

/// `text % values`.
Value percent_format(Vm& vm, Value text, Value values);
/// `text.format(…)`.
Value braces_format(Vm& vm, const Arguments& arguments);

}  // namespace fettle::starlark
