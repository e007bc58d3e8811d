#pragma once
/// The tokens of a file, each with what stands before it. Comments between blocks go to the end of a
/// block or to what follows it.

#include <vector>

#include "starlark/format/parts.h"
#include "starlark/syntax/arena.h"
#include "starlark/syntax/lexer.h"
#include "starlark/syntax/symbols.h"

namespace fettle::starlark::layout {

class Tokens {
 public:
  /// The text must outlive the parts.
  Tokens(std::string_view text, Parts& parts, const LexerOptions& options);

  // The current token.
  Kind kind() const { return kind_; }
  Token token() const { return lexer_.token; }
  bool is(Token token) const { return lexer_.token == token; }
  bool is(Kind kind) const { return kind_ == kind; }

  /// Takes the token, and goes on to the next.
  Part* take();
  /// Takes the token if it is there.
  bool take_if(Kind kind, std::vector<Part*>& taken);
  /// The parser has accepted the file, so it is there.
  void expect(Kind kind, std::vector<Part*>& taken);

  /// An error at the current token. Nothing is read behind one.
  void fail(std::string message);
  bool has_failed() const { return lexer_.failed; }
  const SyntaxError& error() const { return lexer_.error; }

 private:
  void advance();

  std::string_view text_;
  Parts& parts_;
  Arena arena_;
  Symbols symbols_;
  Lexer lexer_;
  Kind kind_ = Kind::end;
  size_t begin_ = 0, end_ = 0;   ///< of the current token
  std::string_view before_;      ///< it
  std::string_view left_;        ///< of what stood before an indent or outdent
  std::vector<size_t> columns_;  ///< of the open blocks
};

}  // namespace fettle::starlark::layout
