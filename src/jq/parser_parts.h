#pragma once
/// The common types of the files of the parser.

#include <memory>

#include "jq/parser.h"

namespace fettle::jq {

/// Forgets at its end the names that were bound in it.
class Parser::Block {
 public:
  explicit Block(Parser& parser) : parser_(parser), count_(parser.scopes_.back().bindings.size()) {}
  ~Block() { parser_.scopes_.back().bindings.resize(count_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  Parser& parser_;
  size_t count_;
};

struct Parser::PatternPart {
  Json key;                        ///< where it is constant
  const Node* query = nullptr;     ///< else what gives it
  std::optional<uint32_t> slot{};  ///< `{$x: …}` binds it, too
  std::unique_ptr<Pattern> pattern{};
};

/// `$x`, `[…]` or `{…}`.
struct Parser::Pattern {
  enum class Sort : uint8_t { variable, list, object };
  Sort sort = Sort::variable;
  uint32_t slot = 0;
  std::vector<PatternPart> parts{};
};

/// What follows a term: how it applies to a value and, if it is computed, how it is computed.
struct Parser::Suffix {
  const Node* alone = nullptr;          ///< applied to `.`
  std::vector<const Node*> computed{};  ///< of `_index` or `_slice`: what follows the value
  std::optional<Json> key{};            ///< of an index: the constant that it is
};

}  // namespace fettle::jq
