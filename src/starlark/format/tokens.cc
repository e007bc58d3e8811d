#include "starlark/format/tokens.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::starlark::layout {
namespace {

/// What a comment between blocks belongs to shows by its column: those as far right as a block are
/// of the block. The end of what belongs to it.
size_t end_of_block(std::string_view before, size_t column) {
  size_t end = 0;
  for (size_t at = 0; at < before.size();) {
    // An empty line belongs to what follows.
    const size_t first = std::min(before.find_first_not_of(" \t\n", at), before.size());
    const size_t line = before.rfind('\n', first);
    const size_t line_begin = line == before.npos || line < at || first == 0 ? at : line + 1;
    const size_t line_end = before.find('\n', first);
    if (first == before.size() || line_end == before.npos || first - line_begin < column)
      break;
    end = at = line_end + 1;
  }
  return end;
}

Kind kind_of(Token token) {
  using enum Token;
  switch (token) {
    case end:
      return Kind::end;
    case newline:
      return Kind::newline;
    case indent:
      return Kind::indent;
    case outdent:
      return Kind::outdent;
    case integer:
    case real:
      return Kind::number;
    case string:
    case bytes:
      return Kind::string;
    case star:
      return Kind::star;
    case star_star:
      return Kind::star_star;
    case dot:
      return Kind::dot;
    case comma:
      return Kind::comma;
    case equal:
      return Kind::equal;
    case semicolon:
      return Kind::semicolon;
    case colon:
      return Kind::colon;
    case left_paren:
      return Kind::open_paren;
    case right_paren:
      return Kind::close_paren;
    case left_bracket:
      return Kind::open_bracket;
    case right_bracket:
      return Kind::close_bracket;
    case left_brace:
      return Kind::open_brace;
    case right_brace:
      return Kind::close_brace;
    case less:
    case greater:
    case greater_equal:
    case less_equal:
    case equal_equal:
    case not_equal:
      return Kind::comparator;
    default:
      if (token >= plus_equal && token <= greater_greater_equal)
        return Kind::augmented;
      return token >= plus && token <= tilde ? Kind::operation : Kind::name;
  }
}

}  // namespace

Tokens::Tokens(std::string_view text, Parts& parts, const LexerOptions& options)
    : text_(text), parts_(parts), symbols_(arena_), lexer_(text, arena_, symbols_, options) {
  advance();
}

void Tokens::fail(std::string message) {
  lexer_.fail(u32(begin_), std::move(message));
  kind_ = Kind::end;
}

void Tokens::advance() {
  const size_t from = end_;
  lexer_.next();
  kind_ = kind_of(lexer_.token);
  begin_ = lexer_.at;
  end_ = lexer_.position();
  before_ = text_.substr(from, begin_ - from);
  if (left_.empty())
    return;
  // What an indent or outdent left stands directly before that.
  before_ = std::string_view(left_.data(), left_.size() + before_.size());
  left_ = {};
}

Part* Tokens::take() {
  const bool has_text = kind_ > Kind::outdent;
  Part* const part =
      parts_.token(kind_, has_text ? text_.substr(begin_, end_ - begin_) : std::string_view());
  part->before = before_;
  if (kind_ == Kind::indent) {
    const size_t line = text_.rfind('\n', begin_ == 0 ? 0 : begin_ - 1);
    columns_.push_back(begin_ - (line == text_.npos ? 0 : line + 1));
    part->before = {};
    left_ = before_;
  } else if (kind_ == Kind::outdent) {
    const size_t size = columns_.empty() ? 0 : end_of_block(before_, columns_.back());
    if (!columns_.empty())
      columns_.pop_back();
    part->before = before_.substr(0, size);
    left_ = before_.substr(size);
  }
  if (!is(Kind::end))
    advance();
  return part;
}

bool Tokens::take_if(Kind kind, std::vector<Part*>& taken) {
  if (!is(kind))
    return false;
  taken.push_back(take());
  return true;
}

void Tokens::expect(Kind kind, std::vector<Part*>& taken) {
  if (!take_if(kind, taken) && !lexer_.failed)
    fail(cat("cannot be laid out: got ", to_string(lexer_.token)));
}

}  // namespace fettle::starlark::layout
