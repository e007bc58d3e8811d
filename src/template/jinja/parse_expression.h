#pragma once
/// Expressions of templates, for the parser of statements.

#include <set>

#include "template/jinja/lexer.h"
#include "template/jinja/node.h"

namespace fettle::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  static constexpr int deepest = 150;
  static constexpr int most_links = 1000;

  const Token& current() const { return tokens_[at_]; }
  const Token& peek() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  void next() { at_ += at_ + 1 < tokens_.size(); }
  bool is_op(std::string_view op) const {
    return current().kind == Token::Kind::op && current().text == op;
  }
  bool is_name(std::string_view name) const {
    return current().kind == Token::Kind::name && current().text == name;
  }
  bool accept(std::string_view op);
  bool accept_name(std::string_view name);
  Status expect(std::string_view op);
  Status expect(Token::Kind kind);
  Error fail(std::string message, int line) const;
  static std::string described(const Token& token);

  Result<ExprPtr> expression();  ///< with `a if b else c`
  /// `a, b`; one alone is itself. May be empty in parentheses only.
  Result<ExprPtr> tuple(bool with_condition, bool is_in_parentheses = false);
  /// A name, `ns.name`, or (`with_tuple`) several.
  Result<ExprPtr> target(bool with_tuple);
  /// `| f | g`; `is_inline` begins without the bar. Null when there is none.
  Result<ExprPtr> filters(ExprPtr node, bool is_inline = false);

  int depth_ = 0;
  int links_ = 0;  ///< of the chains around here, since the statement began
  std::vector<std::set<std::string>> uses_;  ///< names that macros around here use

 private:
  ExprPtr make(Expr::Kind kind, std::string name = {}) const;
  Result<ExprPtr> binary(Expr::Kind kind, std::string op, ExprPtr left, ExprPtr right);
  /// Parses one more link of a chain (`a + b + c`, `a.b.c`, `a | f | g`), which nests to the left.
  Status link();
  Result<ExprPtr> logic_or();
  Result<ExprPtr> logic_and();
  Result<ExprPtr> negation();
  Result<ExprPtr> compare();
  Result<ExprPtr> sum();
  Result<ExprPtr> concat();
  Result<ExprPtr> product();
  Result<ExprPtr> unary(bool with_filter = true);
  Result<ExprPtr> power();
  Result<ExprPtr> primary();
  Result<ExprPtr> list();
  Result<ExprPtr> dict();
  Result<ExprPtr> postfix(ExprPtr node);
  Result<ExprPtr> filter_or_test(ExprPtr node);
  Result<ExprPtr> test(ExprPtr node);
  Result<ExprPtr> subscript(ExprPtr node);
  Result<ExprPtr> subscribed();
  Status arguments(CallArguments& made);
  bool is_tuple_end() const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace fettle::jinja
