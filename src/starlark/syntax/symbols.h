#pragma once
/// Each identifier of a program once. The resolver hangs what a name means now on its symbol, the
/// compiler its text as a value; so neither looks a name up twice.

#include <string_view>
#include <vector>

#include "starlark/eval/value.h"
#include "starlark/syntax/arena.h"

namespace fettle::starlark {

struct Binding;
enum class Token : uint8_t;

struct Symbol {
  std::string_view text;
  uint32_t hash;
  Token token;       ///< of a keyword, else `Token::identifier`
  Binding* binding;  ///< the innermost binding in force, while resolving
  Value value;       ///< the text as an interned value, when it was wanted
  uint32_t code;     ///< the function whose constant `slot` is its text
  uint32_t slot;
};

class Symbols {
 public:
  explicit Symbols(Arena& arena) : arena_(arena), table_(256) {}

  static uint32_t start() { return 2166136261u; }
  static uint32_t mix(uint32_t hash, char c) {
    return (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  }

  /// The symbol of `text`, whose hash is known; the text must outlive the symbols.
  Symbol* find(std::string_view text, uint32_t hash) {
    const uint32_t finished = hash ^ hash >> 15;
    for (size_t i = finished & (table_.size() - 1);; i = (i + 1) & (table_.size() - 1)) {
      Symbol* symbol = table_[i];
      if (symbol == nullptr) [[unlikely]]
        return add(text, hash, i);
      if (symbol->hash == hash && symbol->text == text) [[likely]]
        return symbol;
    }
  }
  Symbol* find(std::string_view text) {
    uint32_t hash = start();
    for (const char c : text)
      hash = mix(hash, c);
    return find(text, hash);
  }

 private:
  Symbol* add(std::string_view text, uint32_t hash, size_t slot);

  Arena& arena_;
  std::vector<Symbol*> table_;
  size_t used_ = 0;
};

}  // namespace fettle::starlark
