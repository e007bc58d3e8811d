#pragma once
/// The text of a file as a tree that still has every token: what the layout is computed from.
///
/// The syntax tree of a program (`syntax/ast.h`) forgets what does not matter when it runs:
/// comments, parentheses, how a number was written. Here the leaves are the tokens in the order of
/// the text, each with what stands before it, and the phrases say only as much of the grammar as
/// the rules of the layout ask for. A phrase of one part is that part: `x` in `return x` is a child
/// of the statement.
///
/// Parentheses that a long line may get are there from the start, as tokens without text
/// (`is_invisible`); a split that uses them makes them visible.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fettle::starlark::layout {

enum class Kind : uint8_t {
  // Tokens.
  end,
  newline,
  indent,
  outdent,
  name,  ///< keywords are names
  number,
  string,
  comment,      ///< behind code
  own_comment,  ///< on lines of its own, or code that is kept as it stands
  comma,
  colon,
  dot,
  equal,
  augmented,
  semicolon,
  star,
  star_star,
  operation,   ///< `+`, `|` and others; as a sign, too
  comparator,  ///< `<` and others; `in` and `not` are names
  open_paren,
  close_paren,
  open_bracket,
  close_bracket,
  open_brace,
  close_brace,
  // Phrases.
  file,
  suite,
  simple_statement,
  assignment,
  return_statement,
  if_statement,
  for_statement,
  while_statement,
  definition,
  parameters,      ///< with their parentheses
  parameter_list,  ///< two or more, or one with a default or star
  lambda,
  lambda_parameters,
  conditional,
  logical,  ///< `and`, `or`, `not`
  comparison,
  not_in,
  arithmetic,  ///< `+`, `-`, `<<`, `>>`, `&`, `^`
  term,        ///< `*` and its like; `|`
  sign,
  chain,  ///< an operand and its trailers: `a.b(c)[d]`
  trailer,
  atom,  ///< something in brackets that is no trailer
  list_items,
  tuple_items,  ///< in parentheses
  bare_tuple,   ///< without
  targets,      ///< of a `for`
  dict_items,
  arguments,
  argument,
  subscripts,
  subscript,
  slice_step,
  for_clause,
  if_clause,
};

struct Part {
  Kind kind = Kind::end;
  std::string_view text;    ///< of a token; empty for an invisible parenthesis
  std::string_view before;  ///< of a token: white space and comments before it, as written
  // Of a token, as it will be printed.
  int newlines = 0;
  int spaces = 0;
  // Of a token, by the line that it was put on last.
  int depth = 0;
  Part* opening = nullptr;  ///< of a closing bracket
  uint8_t rank = 0;         ///< of an operation: the higher, the earlier a line is split there
  uint32_t place = 0;       ///< among the children of its parent
  Part* parent = nullptr;
  std::vector<Part*> children;

  bool is_token() const { return kind < Kind::file; }
  bool is_word(std::string_view word) const { return kind == Kind::name && text == word; }
};

inline bool is_opening(Kind kind) {
  return kind == Kind::open_paren || kind == Kind::open_bracket || kind == Kind::open_brace;
}
inline bool is_closing(Kind kind) {
  return kind == Kind::close_paren || kind == Kind::close_bracket || kind == Kind::close_brace;
}
inline bool is_bracket(Kind kind) { return is_opening(kind) || is_closing(kind); }
inline bool is_invisible(const Part& part) { return is_bracket(part.kind) && part.text.empty(); }
/// The kind of what closes an opening bracket.
inline Kind closing_of(Kind kind) { return static_cast<Kind>(static_cast<int>(kind) + 1); }

Part* previous_sibling(const Part* part);
Part* next_sibling(const Part* part);
Part* first_token(Part* part);
Part* last_token(Part* part);
/// The token before a part; null at the begin of the tree.
Part* token_before(const Part* part);
/// Of a phrase `( x )`, what stands inside; else null.
Part* inside_parentheses(const Part* part);
bool is_empty_tuple(const Part* part);
/// A tuple of one item, with parentheses or without.
bool is_one_tuple(const Part* part);
/// The star of `*args` or `**args`.
bool is_rest_star(const Part* part);
/// A text in triple quotes that spans lines.
bool is_multiline_string(const Part* part);
/// A text that stands where the documentation of a block does; that of a file is a text like others.
bool is_doc_string(const Part* part);
void make_visible(Part* parenthesis);
/// Puts another part in the place of a child. The old one is then without a parent.
void replace(Part* old_part, Part* new_part);
void number_children(Part* parent);

/// Owns parts and the texts that they get anew.
class Parts {
 public:
  Part* token(Kind kind, std::string_view text);
  /// A phrase of its children; of one child, that child.
  Part* phrase(Kind kind, std::vector<Part*> children);
  /// Puts a child and parentheses around it in the child's place.
  Part* wrap(Part* child, bool visible);
  Part* copy_of(const Part& token);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  std::deque<Part> parts_;
  std::deque<std::string> texts_;
};

}  // namespace fettle::starlark::layout
