#include "starlark/format/statements.h"

#include <algorithm>

#include "starlark/format/comments.h"
#include "starlark/format/literals.h"
#include "starlark/format/parentheses.h"

namespace fettle::starlark::layout {
namespace {

/// Words at which a statement with blocks begins another line.
bool begins_line(const Part* statement, const Part* token) {
  switch (statement->kind) {
    case Kind::if_statement:
      return token->is_word("if") || token->is_word("elif") || token->is_word("else");
    case Kind::while_statement:
      return token->is_word("while");
    case Kind::for_statement:
      return token->is_word("for");
    case Kind::return_statement:
      return token->is_word("return");
    case Kind::definition:
      return token->place == 0;
    default:
      return false;
  }
}

bool has_blocks(const Part* phrase) {
  return phrase != nullptr &&
         (phrase->kind == Kind::if_statement || phrase->kind == Kind::while_statement ||
          phrase->kind == Kind::for_statement || phrase->kind == Kind::definition);
}

bool is_number_with_attribute(const Part* chain) {
  const Part* const first = chain->children[0];
  if (first->kind != Kind::number || chain->children[1]->children[0]->kind != Kind::dot)
    return false;
  return first->text.size() < 2 || first->text[0] != '0' || (first->text[1] | 32) < 'a' ||
         (first->text[1] | 32) == 'e';
}

}  // namespace

void LineMaker::end_line(int deeper) {
  if (line_.is_empty()) {
    line_.depth += deeper;
    return;
  }
  Line complete = std::move(line_);
  line_ = Line(complete.depth + deeper);
  take_(std::move(complete));
}

void LineMaker::visit(Part* part) {
  switch (part->kind) {
    case Kind::if_statement:
    case Kind::while_statement:
    case Kind::for_statement:
    case Kind::return_statement:
    case Kind::assignment:
    case Kind::definition:
      return visit_statement(part);
    case Kind::simple_statement:
      return visit_simple_statement(part);
    case Kind::chain:
      return visit_chain(part);
    default:
      return part->is_token() ? visit_token(part) : visit_children(part);
  }
}

void LineMaker::visit_children(Part* phrase) {
  const std::vector<Part*> children = phrase->children;
  for (Part* const child : children)
    visit(child);
}

void LineMaker::visit_statement(Part* statement) {
  if (statement->kind == Kind::definition)
    end_line();
  else
    settle_parentheses(statement, parts_);
  const std::vector<Part*> children = statement->children;
  for (Part* const child : children) {
    if (statement->kind != Kind::definition && begins_line(statement, child))
      end_line();
    visit(child);
  }
}

void LineMaker::visit_simple_statement(Part* statement) {
  const std::vector<Part*> children = statement->children;
  for (Part* const child : children)
    if (child->kind == Kind::arithmetic)
      parts_.wrap(child, false);
  const bool is_block = has_blocks(statement->parent);
  end_line(is_block ? 1 : 0);
  visit_children(statement);
  if (is_block)
    end_line(-1);
}

void LineMaker::visit_chain(Part* chain) {
  if (is_number_with_attribute(chain))
    parts_.wrap(chain->children[0], true);
  visit_children(chain);
}

void LineMaker::visit_token(Part* token) {
  switch (token->kind) {
    case Kind::indent:
      end_line(1);
      return append_token(token);
    case Kind::outdent:
      end_line();
      append_token(token);
      return end_line(-1);
    case Kind::semicolon:
      return end_line();
    case Kind::end:
      append_token(token);
      return end_line();
    case Kind::own_comment:
      return visit_own_comment(token);
    case Kind::string:
      token->text = parts_.keep(is_doc_string(token) ? plain_doc_string(token->text, line_.depth)
                                                     : plain_string(token->text));
      return append_token(token);
    case Kind::number:
      token->text = parts_.keep(plain_number(token->text));
      return append_token(token);
    default:
      return append_token(token);
  }
}

/// Code that is kept as it stands.
void LineMaker::visit_own_comment(Part* comment) {
  end_line();
  append_token(comment);
  end_line();
}

void LineMaker::append_token(Part* token) {
  const bool in_brackets = line_.brackets.any_open();
  for (Part* const comment : take_comments(parts_, *token)) {
    if (in_brackets) {
      line_.append(comment);
    } else if (comment->kind == Kind::comment) {
      line_.append(comment);
      end_line();
    } else {
      end_line();
      line_.append(comment);
      end_line();
    }
  }
  if (in_brackets)
    token->newlines = 0;
  if (token->kind > Kind::outdent)
    line_.append(token);
}

}  // namespace fettle::starlark::layout
