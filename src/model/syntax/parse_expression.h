#pragma once
/// The part of the parser that reads expressions. `parse_statement.h` adds statements, `parser.cc`
/// definitions. `parse_call.cc` has expressions that begin with a name.

#include <utility>
#include <vector>

#include "base/text.h"
#include "model/syntax/lexer.h"
#include "model/syntax/parser.h"

namespace fettle::model {

class ExpressionParser {
 public:
  ExpressionParser(std::string_view file_name, std::string_view text, Tokens tokens, Arena& arena,
                   Symbols& symbols, const Warn& warn)
      : file_name_(file_name),
        text_(text),
        tokens_(std::move(tokens.found)),
        error_(std::move(tokens.error)),
        arena_(arena),
        symbols_(symbols),
        warn_(warn) {}

 protected:
  struct Deeper {
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& depth_;
  };

  const Lexeme& now() const { return tokens_[at_]; }
  const Lexeme& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool sees(Token token) const { return now().token == token; }
  bool sees(char character) const { return now().character == character; }
  Status expect(Token token);
  Status expect(char character);
  /// The error at the present token, with the reserved word that was probably meant before it.
  Error syntax_error() const;
  Error fail(std::string message) const { return fail_at(now().at, std::move(message)); }
  Error fail_at(Place at, std::string message) const;
  std::string exactly(Place at) const;  ///< `file:line:column`
  std::string wrong_separator(std::string_view space, std::string_view name, Place at) const;
  Result<const Expr*> regex(const Lexeme& token);
  Status refuse_hyphen(Symbol name, Place at) const;

  Error error_behind_word();
  Result<Symbol> identifier(bool allows_hyphen = false);  ///< an ID that names something new
  Result<QualifiedName> namespace_reference();
  Result<const Expr*> expression();
  Result<const Expr*> operand();

  template <typename T>
  std::span<const T> keep(const std::vector<T>& items) {
    return arena_.copy(std::span<const T>(items));
  }

  std::string_view file_name_;
  std::string_view text_;
  std::vector<Lexeme> tokens_;
  std::optional<Error> error_;  ///< what stands where the tokens end
  Arena& arena_;
  Symbols& symbols_;
  const Warn& warn_;
  size_t at_ = 0;
  int depth_ = 0;

 private:
  Result<const Expr*> binary(int level);
  Result<const Expr*> membership();
  Result<const Expr*> reference();
  Result<const Expr*> path(const Expr* start);
  Result<const Expr*> constructor(QualifiedName type);
  Result<const Expr*> call(QualifiedName function);
  Result<const Expr*> list();
  Result<const Expr*> comprehension(Place at, const Expr* value);
  Result<const Expr*> dict();
  std::string path_text(const Expr* path) const;
  Error syntax_error_alone() const;
  std::string meant_word() const;
  Result<const Expr*> number();
  Result<const Expr*> text();
  Result<std::span<const Argument>> arguments(char close, bool allows_positional);
  bool sees_named_argument() const;
  const Expr* constant(Datum value, Place at);
};

}  // namespace fettle::model
