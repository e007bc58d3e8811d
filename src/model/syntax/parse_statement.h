#pragma once
/// The part of the parser that reads statements and blocks; `parser.cc` adds definitions.

#include <vector>

#include "model/syntax/parse_expression.h"

namespace fettle::model {

class StatementParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

 protected:
  Result<const Stmt*> statement();
  /// Parses statements up to `end`, `else` or `elif`.
  Result<const Block*> block();
  const Block* make_block(const std::vector<const Stmt*>& statements);

 private:
  Result<const Stmt*> for_statement();
  /// Parses what follows `if`. An `elif` is an `if` in the `else`; the tree is made from the last
  /// one.
  Result<const Stmt*> if_statement();
  Result<const Stmt*> expression_statement();
  void warn_without_effect(const Expr* value, bool is_on_line);
};

}  // namespace fettle::model
