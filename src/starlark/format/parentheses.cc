#include "starlark/format/parentheses.h"

#include <algorithm>

#include "base/text.h"
#include "starlark/format/comments.h"
#include "starlark/format/line.h"

namespace fettle::starlark::layout {
namespace {

/// What an atom's parentheses are around decides by its highest delimiter at its own level.
void mark_own_level(Part* part, Brackets& brackets) {
  if (part->is_token()) {
    brackets.mark(*part);
    return;
  }
  Part* const first = part->children.front();
  Part* const last = part->children.back();
  if (is_opening(first->kind) && is_closing(last->kind)) {
    brackets.mark(*first);
    brackets.mark(*last);
    return;
  }
  for (Part* const child : part->children)
    mark_own_level(child, brackets);
}

bool holds_items(const Part* atom) {
  if (atom->kind != Kind::atom || atom->children.front()->kind != Kind::open_paren)
    return false;
  Brackets brackets;
  for (size_t i = 1; i + 1 < atom->children.size(); ++i)
    mark_own_level(atom->children[i], brackets);
  return brackets.highest() >= priority::comma;
}

bool has_comment(std::string_view before) { return !trim(before).empty(); }

/// Puts the content of invisible parentheses in their place; comments before them stay.
void drop_parentheses(Part* atom, Part* last, Parts& parts) {
  Part* const open = atom->children.front();
  Part* const content = atom->children[1];
  Part* const close = atom->children.back();
  const auto prepend = [&](std::string_view comments, Part* token) {
    if (has_comment(comments))
      token->before = parts.keep(cat(comments, token->before));
  };
  prepend(open->before, first_token(content));
  prepend(close->before, last);
  replace(atom, content);
}

enum class Commas : uint8_t { keep, hide };

/// Makes the parentheses of an atom invisible where that changes nothing. Whether the part needs
/// invisible parentheses around it.
bool hide_parentheses(Part* part, Commas commas, Parts& parts) {
  if (part->kind != Kind::atom || is_empty_tuple(part) || is_one_tuple(part) ||
      (commas == Commas::keep && holds_items(part)))
    return false;
  Part* const first = part->children.front();
  Part* const last = part->children.back();
  if (first->kind != Kind::open_paren || last->kind != Kind::close_paren)
    return true;
  first->text = last->text = {};
  Part* const middle = part->children[1];
  hide_parentheses(middle, commas, parts);
  if (middle->kind == Kind::atom && is_invisible(*middle->children.front()))
    drop_parentheses(middle, last, parts);
  return false;
}

/// Whether a value follows a word or sign, which parentheses may be put around.
bool asks_for_value(const Part* statement, const Part* token) {
  if (token->kind == Kind::comma)
    return true;
  switch (statement->kind) {
    case Kind::if_statement:
      return token->is_word("if") || token->is_word("elif");
    case Kind::while_statement:
      return token->is_word("while");
    case Kind::for_statement:
      return token->is_word("for") || token->is_word("in");
    case Kind::return_statement:
      return token->is_word("return");
    case Kind::assignment:
      return token->kind == Kind::equal || token->kind == Kind::augmented;
    default:
      return false;
  }
}

void settle_value(Part* statement, Part* value, Parts& parts) {
  if (value->kind == Kind::atom) {
    const bool is_target =
        statement->kind == Kind::for_statement && previous_sibling(value)->is_word("for");
    if (hide_parentheses(value, is_target ? Commas::hide : Commas::keep, parts))
      parts.wrap(value, false);
  } else if (is_one_tuple(value)) {
    parts.wrap(value, true);
  } else if (!is_multiline_string(value)) {
    parts.wrap(value, false);
  }
}

}  // namespace

void settle_parentheses(Part* statement, Parts& parts) {
  for (const Comment& comment : comments_of(first_token(statement)->before, false))
    if (wish_of(comment.text) == Wish::off)
      return;
  bool is_value_next = false;
  const std::vector<Part*> children = statement->children;
  for (size_t i = 0; i < children.size(); ++i) {
    Part* const child = children[i];
    if (i == 0 && child->kind == Kind::bare_tuple)
      is_value_next = true;
    if (is_value_next)
      settle_value(statement, child, parts);
    is_value_next = child->is_token() && asks_for_value(statement, child);
  }
}

}  // namespace fettle::starlark::layout
