#include "model/syntax/parse_statement.h"

namespace fettle::model {

Result<const Stmt*> StatementParser::statement() {
  const Deeper deeper(depth_);
  if (depth_ > max_depth)
    return fail("Syntax error: the model is nested too deeply");
  if (sees(Token::word_for))
    return for_statement();
  if (sees(Token::word_if)) {
    ++at_;
    return if_statement();
  }
  return expression_statement();
}

Result<const Block*> StatementParser::block() {
  std::vector<const Stmt*> statements;
  while (!sees(Token::word_end) && !sees(Token::word_else) && !sees(Token::word_elif)) {
    if (sees(Token::end_of_file))
      return syntax_error();
    statements.push_back(TRY(statement()));
  }
  return make_block(statements);
}

const Block* StatementParser::make_block(const std::vector<const Stmt*>& statements) {
  return arena_.make<Block>(keep(statements));
}

Result<const Stmt*> StatementParser::for_statement() {
  const Place at = now().at;
  ++at_;
  const Symbol variable = TRY(identifier(true));
  TRY(expect(Token::word_in));
  const Expr* iterable = TRY(expression());
  TRY(expect(':'));
  const Block* body = TRY(block());
  TRY(expect(Token::word_end));
  return arena_.make<For>(Stmt{StmtKind::for_, at}, variable, iterable, body);
}

Result<const Stmt*> StatementParser::if_statement() {
  const Deeper deeper(depth_);
  if (depth_ > max_depth)
    return fail("Syntax error: the model is nested too deeply");
  struct Branch {
    Place at;
    const Expr* condition;
    const Block* yes;
  };
  std::vector<Branch> branches;
  for (;;) {
    Branch& branch = branches.emplace_back(Branch{tokens_[at_ - 1].at, nullptr, nullptr});
    branch.condition = TRY(expression());
    TRY(expect(':'));
    branch.yes = TRY(block());
    if (!sees(Token::word_elif))
      break;
    ++at_;
  }
  const Block* no = nullptr;
  if (sees(Token::word_else)) {
    ++at_;
    TRY(expect(':'));
    no = TRY(block());
  } else {
    no = make_block({});
  }
  TRY(expect(Token::word_end));
  for (;;) {
    const Branch& branch = branches.back();
    const Stmt* made =
        arena_.make<If>(Stmt{StmtKind::if_, branch.at}, branch.condition, branch.yes, no);
    branches.pop_back();
    if (branches.empty())
      return made;
    no = arena_.make<Block>(keep(std::vector<const Stmt*>{made}), std::span<const Symbol>(),
                            std::span<const OuterAssignment>(), true);
  }
}

Result<const Stmt*> StatementParser::expression_statement() {
  const Lexeme first = now();
  const bool is_on_line = at_ > 0 && tokens_[at_ - 1].at.line == first.at.line;
  const Expr* target = TRY(expression());
  const bool is_add = sees(Token::plus_assign);
  if (!is_add && !sees('=')) {
    if (first.token != Token::long_string)
      warn_without_effect(target, is_on_line);
    return arena_.make<ExprStmt>(Stmt{StmtKind::expression, first.at}, target);
  }
  const bool is_target = target->kind == ExprKind::name || target->kind == ExprKind::attribute;
  if (!is_target || tokens_[at_ - 1].character == ')')
    return syntax_error();
  ++at_;
  const Expr* value = TRY(expression());
  if (target->kind == ExprKind::attribute) {
    const auto& attribute = as<AttributeRef>(target);
    return arena_.make<AssignAttribute>(Stmt{StmtKind::assign_attribute, first.at},
                                        attribute.object, attribute.name, value, is_add);
  }
  const QualifiedName& name = as<Name>(target).name;
  TRY(refuse_hyphen(name.name, first.at));
  if (is_add)
    return fail_at(first.at, cat("Syntax error: Can not perform += on variable ",
                                 symbols_.name(name.name), " (", exactly(first.at), ")"));
  return arena_.make<Assign>(Stmt{StmtKind::assign, first.at}, name, value);
}

void StatementParser::warn_without_effect(const Expr* value, bool is_on_line) {
  switch (value->kind) {
    case ExprKind::constant:
    case ExprKind::list:
    case ExprKind::dict:
    case ExprKind::name:
    case ExprKind::attribute:
      warn_(value->at, is_on_line ? "this is a separate statement without effect; an operator or "
                                    "a separator may be missing before it"
                                  : "this statement has no effect");
      return;
    default:
      return;
  }
}

}  // namespace fettle::model
