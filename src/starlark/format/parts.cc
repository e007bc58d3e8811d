#include "starlark/format/parts.h"

namespace fettle::starlark::layout {

Part* previous_sibling(const Part* part) {
  if (part->parent == nullptr || part->place == 0)
    return nullptr;
  return part->parent->children[part->place - 1];
}

Part* next_sibling(const Part* part) {
  if (part->parent == nullptr || part->place + 1 >= part->parent->children.size())
    return nullptr;
  return part->parent->children[part->place + 1];
}

Part* first_token(Part* part) {
  while (!part->is_token())
    part = part->children.front();
  return part;
}

Part* last_token(Part* part) {
  while (!part->is_token())
    part = part->children.back();
  return part;
}

Part* token_before(const Part* part) {
  for (; part != nullptr; part = part->parent)
    if (Part* const sibling = previous_sibling(part))
      return last_token(sibling);
  return nullptr;
}

Part* inside_parentheses(const Part* part) {
  const std::vector<Part*>& children = part->children;
  if (children.size() != 3 || children[0]->kind != Kind::open_paren ||
      children[2]->kind != Kind::close_paren)
    return nullptr;
  return children[1];
}

bool is_empty_tuple(const Part* part) {
  return part->kind == Kind::atom && part->children.size() == 2 &&
         part->children[0]->kind == Kind::open_paren;
}

bool is_one_tuple(const Part* part) {
  const Part* items = part;
  if (part->kind == Kind::atom) {
    items = inside_parentheses(part);
    if (items == nullptr || items->kind != Kind::tuple_items)
      return false;
  } else if (part->kind != Kind::bare_tuple && part->kind != Kind::targets) {
    return false;
  }
  return items->children.size() == 2 && items->children[1]->kind == Kind::comma;
}

bool is_rest_star(const Part* part) {
  if ((part->kind != Kind::star && part->kind != Kind::star_star) || part->parent == nullptr)
    return false;
  switch (part->parent->kind) {
    case Kind::arguments:
    case Kind::argument:
    case Kind::trailer:
    case Kind::parameters:
    case Kind::parameter_list:
    case Kind::lambda_parameters:
      return true;
    default:
      return false;
  }
}

bool is_multiline_string(const Part* part) {
  if (part->kind != Kind::string)
    return false;
  const size_t quote = part->text.find_first_not_of("rb");
  const std::string_view text = part->text.substr(quote);
  return (text.starts_with("\"\"\"") || text.starts_with("'''")) && text.find('\n') != text.npos;
}

bool is_doc_string(const Part* part) {
  if (part->kind != Kind::string || part->text.find('b') < part->text.find_first_of("'\""))
    return false;
  const Part* const statement = part->parent;
  if (statement == nullptr || statement->kind != Kind::simple_statement)
    return false;
  const Part* const block = statement->parent;
  if (block == nullptr)
    return false;
  if (block->kind == Kind::suite)
    return statement->place == 2;
  return block->kind == Kind::definition;
}

void make_visible(Part* parenthesis) {
  if (parenthesis->kind == Kind::open_paren)
    parenthesis->text = "(";
  else if (parenthesis->kind == Kind::close_paren)
    parenthesis->text = ")";
}

void replace(Part* old_part, Part* new_part) {
  Part* const parent = old_part->parent;
  if (parent == nullptr)
    return;
  parent->children[old_part->place] = new_part;
  new_part->parent = parent;
  new_part->place = old_part->place;
  old_part->parent = nullptr;
}

void number_children(Part* parent) {
  uint32_t place = 0;
  for (Part* const child : parent->children) {
    child->parent = parent;
    child->place = place++;
  }
}

Part* Parts::token(Kind kind, std::string_view text) {
  Part& part = parts_.emplace_back();
  part.kind = kind;
  part.text = text;
  return &part;
}

Part* Parts::phrase(Kind kind, std::vector<Part*> children) {
  if (children.empty())  // behind an error
    return token(Kind::end, {});
  if (children.size() == 1)
    return children.front();
  Part& part = parts_.emplace_back();
  part.kind = kind;
  part.children = std::move(children);
  number_children(&part);
  return &part;
}

Part* Parts::wrap(Part* child, bool visible) {
  Part* const parent = child->parent;
  const uint32_t place = child->place;
  Part* const open = token(Kind::open_paren, visible ? "(" : "");
  Part* const close = token(Kind::close_paren, visible ? ")" : "");
  Part* const first = first_token(child);
  open->before = first->before;
  first->before = {};
  Part* const atom = phrase(Kind::atom, {open, child, close});
  parent->children[place] = atom;
  atom->parent = parent;
  atom->place = place;
  return atom;
}

Part* Parts::copy_of(const Part& original) { return token(original.kind, original.text); }

}  // namespace fettle::starlark::layout
