#pragma once
/// Each identifier of a program, once. On its symbol, the resolver notes what the name means at
/// present, and the compiler its text as a value. So neither looks a name up twice.

#include <cstring>
#include <string_view>
#include <vector>

#include "starlark/syntax/arena.h"
#include "starlark/values/value.h"

namespace fettle::starlark {

struct Binding;
enum class Token : uint8_t;

/// Eight bytes from each end of a name. In a name of up to sixteen bytes, these are all.
struct NameEnds {
  uint64_t first = 0;
  uint64_t last = 0;
  explicit NameEnds(std::string_view name) {
    const char* const text = name.data();
    const size_t size = name.size();
    if (size >= 8) {
      std::memcpy(&first, text, 8);
      std::memcpy(&last, text + size - 8, 8);
    } else if (size >= 4) {
      std::memcpy(&first, text, 4);
      std::memcpy(&last, text + size - 4, 4);
    } else if (size > 0) {
      first = u64(u8(text[0])) | u64(u8(text[size / 2])) << 8 | u64(u8(text[size - 1])) << 16;
    }
  }
};

struct Symbol {
  std::string_view text;
  NameEnds ends;
  uint32_t hash;
  Token token;       ///< of a keyword, else `Token::identifier`
  Binding* binding;  ///< the innermost binding in force, while resolving
  Value value;       ///< the text as an interned value, when it was wanted
  uint32_t code;     ///< the function whose constant `slot` is its text
  uint32_t slot;
};

class Symbols {
 public:
  explicit Symbols(Arena& arena);

  /// The symbol of `text`, which must outlive the symbols.
  Symbol* find(std::string_view text) {
    const NameEnds ends(text);
    const uint32_t hash = hash_of(text, ends);
    for (size_t i = hash & (table_.size() - 1);; i = (i + 1) & (table_.size() - 1)) {
      Symbol* symbol = table_[i];
      if (symbol == nullptr) [[unlikely]]
        return add(text, ends, hash, i);
      if (symbol->ends.first == ends.first && symbol->ends.last == ends.last &&
          symbol->text.size() == text.size() && (text.size() <= 16 || symbol->text == text))
          [[likely]]
        return symbol;
    }
  }

 private:
  /// Nobody can write names that collide, since each process has another seed.
  uint32_t hash_of(std::string_view text, const NameEnds& ends) const {
    if (text.size() > 16)
      return hash_of_long(text);
    __extension__ using Product = unsigned __int128;
    const Product product = Product(ends.first ^ seed_) * (ends.last ^ other_seed_ ^ text.size());
    const uint64_t folded = u64(product) ^ u64(product >> 64);
    return u32(folded ^ folded >> 32);
  }
  static uint32_t hash_of_long(std::string_view text);
  Symbol* add(std::string_view text, const NameEnds& ends, uint32_t hash, size_t slot);

  Arena& arena_;
  const uint64_t seed_;
  const uint64_t other_seed_;
  std::vector<Symbol*> table_;
  size_t used_ = 0;
};

}  // namespace fettle::starlark
