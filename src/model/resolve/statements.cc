/// Resolves statements and blocks: the names for which a statement waits, and the assignments that
/// a block may make.

#include "model/resolve/walk.h"

#include <algorithm>
#include <ranges>

#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/suggest.h"
#include "model/program/text_form.h"

namespace fettle::model {

void Walk::block(const Block& block, const Level* parent, const For* loop) {
  const bool is_root = parent == nullptr && entity_ == nullptr;
  const Level level{parent, is_root ? Variables() : variables(block, loop)};
  if (!is_root && warn_)
    warn_of_shadows(level, block);
  for (size_t i = 0; i < block.statements.size(); ++i)
    statement(block.statements[is_root ? i : block.statements.size() - 1 - i], &level);
  keep_foreseen(block);
}

void Walk::statement(const Stmt* statement, const Level* level) {
  if (!failures_.empty())
    return;
  statement_ = statement;
  names_of(statement, level);
  if (!failures_.empty())
    return;
  std::vector<Need> needs;
  switch (statement->kind) {
    case StmtKind::expression:
      collect_needs(as<ExprStmt>(statement).expression, nullptr, needs);
      break;
    case StmtKind::assign:
      collect_needs(as<Assign>(statement).value, nullptr, needs);
      break;
    case StmtKind::assign_attribute:
      collect_needs(as<AssignAttribute>(statement).object, nullptr, needs);
      break;
    case StmtKind::for_:
      collect_needs(as<For>(statement).iterable, nullptr, needs);
      break;
    case StmtKind::if_:
      collect_needs(as<If>(statement).condition, nullptr, needs);
      break;
  }
  keep_needs(*statement, needs);
}

void Walk::names_of(const Stmt* statement, const Level* level) {
  switch (statement->kind) {
    case StmtKind::expression:
      return expression(as<ExprStmt>(statement).expression, level);
    case StmtKind::assign:
      if (!as<Assign>(statement).name.space.empty())
        foreign(as<Assign>(statement));
      return expression(as<Assign>(statement).value, level);
    case StmtKind::assign_attribute:
      expression(as<AssignAttribute>(statement).object, level);
      expression(as<AssignAttribute>(statement).value, level, &some_attribute);
      if (failures_.empty())
        as<AssignAttribute>(statement).missing =
            missing_in(as<AssignAttribute>(statement).value, false).name;
      return;
    case StmtKind::for_: {
      const auto& node = as<For>(statement);
      expression(node.iterable, level);
      if (!failures_.empty())
        return;
      if (const Need missing = missing_in(node.iterable, true); missing.reader == nullptr)
        node.missing = missing.name;
      return block(*node.body, level, &node);
    }
    case StmtKind::if_: {
      return chain(as<If>(statement), level);
    }
  }
}

void Walk::chain(const If& first, const Level* level) {
  std::vector<const Block*> blocks;
  for (const If* node = &first;;) {
    expression(node->condition, level);
    block(*node->yes, level, nullptr);
    if (!failures_.empty())
      return;
    if (!node->no->is_elif) {
      block(*node->no, level, nullptr);
      break;
    }
    blocks.push_back(node->no);
    statement_ = node->no->statements[0];
    node = &as<If>(statement_);
    std::vector<Need> needs;
    collect_needs(node->condition, nullptr, needs);
    keep_needs(*node, needs);
  }
  for (const Block* one : blocks | std::views::reverse)
    keep_foreseen(*one);
}

void Walk::keep_needs(const Stmt& statement, const std::vector<Need>& needs) {
  std::vector<const Name*> names;
  for (const Need& need : needs)
    names.push_back(need.name);
  statement.needs = program_.arena.copy(std::span<const Name* const>(names));
}

void Walk::keep_foreseen(const Block& block) {
  std::vector<OuterAssignment> foreseen;
  foresee(block, foreseen);
  // Each one of a chain has those of all behind it.
  if (program_.budget->has_room(2 * foreseen.size() * sizeof(OuterAssignment)))
    block.foreseen = program_.arena.copy(std::span<const OuterAssignment>(foreseen));
}

void Walk::foresee(const Block& block, std::vector<OuterAssignment>& found) {
  const auto add = [&](const OuterAssignment& one) {
    const Expr* root = one.assignment->object;
    while (root->kind == ExprKind::attribute)
      root = as<AttributeRef>(root).object;
    if (root->kind == ExprKind::name &&
        (as<Name>(root).found != NameKind::local || as<Name>(root).depth >= one.levels))
      found.push_back(one);
  };
  const auto add_inner = [&](const Block& inner) {
    for (const OuterAssignment& one : inner.foreseen)
      add({one.assignment, one.levels + (block.is_elif ? 0 : 1)});
  };
  for (const Stmt* statement : block.statements) {
    if (statement->kind == StmtKind::assign_attribute)
      add({&as<AssignAttribute>(statement), 1});
    if (statement->kind == StmtKind::for_)
      add_inner(*as<For>(statement).body);
    if (statement->kind == StmtKind::if_) {
      add_inner(*as<If>(statement).yes);
      add_inner(*as<If>(statement).no);
    }
  }
}

}  // namespace fettle::model
