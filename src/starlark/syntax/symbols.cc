#include "starlark/syntax/symbols.h"

#include <bit>

#include "starlark/syntax/lexer.h"
#include "starlark/values/hash.h"

namespace fettle::starlark {

Symbols::Symbols(Arena& arena)
    : arena_(arena),
      seed_(hash_seed()),
      other_seed_(std::rotl(seed_, 29) * 0x9E3779B97F4A7C15u),
      table_(256) {}

uint32_t Symbols::hash_of_long(std::string_view text) {
  const uint64_t hash = hash_text(text);
  return u32(hash ^ hash >> 32);
}

Symbol* Symbols::add(std::string_view text, const NameEnds& ends, uint32_t hash, size_t slot) {
  Symbol* symbol =
      arena_.make<Symbol>(text, ends, hash, Token::identifier, nullptr, Value::unset(), 0u, 0u);
  table_[slot] = symbol;
  if (++used_ * 2 > table_.size()) {
    std::vector<Symbol*> larger(table_.size() * 4);
    for (Symbol* known : table_) {
      if (known == nullptr)
        continue;
      size_t i = known->hash & (larger.size() - 1);
      while (larger[i] != nullptr)
        i = (i + 1) & (larger.size() - 1);
      larger[i] = known;
    }
    table_.swap(larger);
  }
  return symbol;
}

}  // namespace fettle::starlark
