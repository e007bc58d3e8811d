#include "starlark/format/read.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "starlark/format/tokens.h"

namespace fettle::starlark::layout {
namespace {

struct OperatorLevel {
  Kind phrase = Kind::arithmetic;
  std::array<Token, 4> operators{};
  uint8_t rank = 0;
};

/// The binary operations, the weakest first.
constexpr std::array levels = {
    OperatorLevel{Kind::term, {Token::pipe}, 9},
    OperatorLevel{Kind::arithmetic, {Token::caret}, 8},
    OperatorLevel{Kind::arithmetic, {Token::ampersand}, 7},
    OperatorLevel{Kind::arithmetic, {Token::less_less, Token::greater_greater}, 6},
    OperatorLevel{Kind::arithmetic, {Token::plus, Token::minus}, 5},
    OperatorLevel{Kind::term, {Token::star, Token::slash, Token::slash_slash, Token::percent}, 4}};

/// Recursive descent, as the parser; but it keeps what it reads.
class TreeReader : Tokens {
 public:
  TreeReader(std::string_view text, Parts& parts, const LexerOptions& options)
      : Tokens(text, parts, options), parts_(parts) {}

  ReadTree read() {
    std::vector<Part*> children;
    while (kind() != Kind::end && !has_failed())
      children.push_back(statement());
    // A file without statements is a phrase all the same.
    Part* const file = parts_.token(Kind::file, {});
    children.push_back(take());
    file->children = std::move(children);
    number_children(file);
    if (has_failed())
      return {nullptr, error()};
    return {file, std::nullopt};
  }

 private:
  struct Depth {
    explicit Depth(TreeReader& reader_) : reader(reader_) {
      if (++reader.depth_ > deepest_layout)
        reader.fail(cat("nested deeper than ", deepest_layout, ": cannot be laid out"));
    }
    ~Depth() { --reader.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    TreeReader& reader;
  };

  // Statements.

  Part* statement() {
    switch (token()) {
      case Token::kw_def:
        return definition();
      case Token::kw_if:
        return branches();
      case Token::kw_for:
        return for_statement();
      case Token::kw_while: {
        std::vector<Part*> children{take(), test()};
        suite(children);
        return parts_.phrase(Kind::while_statement, std::move(children));
      }
      default:
        return simple_statement();
    }
  }

  Part* simple_statement() {
    std::vector<Part*> children{small_statement()};
    while (take_if(Kind::semicolon, children) && !is(Kind::newline))
      children.push_back(small_statement());
    expect(Kind::newline, children);
    if (has_failed())
      return parts_.token(Kind::end, {});
    return parts_.phrase(Kind::simple_statement, std::move(children));
  }

  Part* small_statement() {
    if (is(Token::kw_pass) || is(Token::kw_break) || is(Token::kw_continue))
      return take();
    if (is(Token::kw_return)) {
      std::vector<Part*> children{take()};
      if (!is(Kind::newline) && !is(Kind::semicolon))
        children.push_back(expressions());
      return parts_.phrase(Kind::return_statement, std::move(children));
    }
    std::vector<Part*> children{expressions()};
    if (is(Kind::colon))
      refuse_type();
    while (take_if(Kind::equal, children) || take_if(Kind::augmented, children))
      children.push_back(expressions());
    return parts_.phrase(Kind::assignment, std::move(children));
  }

  void refuse_type() { fail("a type cannot be laid out; Kurtosis does not know any: remove it"); }

  Part* definition() {
    std::vector<Part*> children{take()};
    expect(Kind::name, children);
    std::vector<Part*> inside;
    expect(Kind::open_paren, inside);
    if (Part* const list = parameters(Kind::parameter_list))
      inside.push_back(list);
    expect(Kind::close_paren, inside);
    if (has_failed())
      return parts_.token(Kind::end, {});
    children.push_back(parts_.phrase(Kind::parameters, std::move(inside)));
    if (is(Token::minus))
      refuse_type();
    suite(children);
    return parts_.phrase(Kind::definition, std::move(children));
  }

  /// Null if there are none.
  Part* parameters(Kind phrase) {
    std::vector<Part*> children;
    while (!is(Kind::close_paren) && !is(Kind::colon) && !is(Kind::end)) {
      if (take_if(Kind::comma, children))
        continue;
      if (is(Kind::star) || is(Kind::star_star)) {
        children.push_back(take());
        take_if(Kind::name, children);
      } else {
        expect(Kind::name, children);
      }
      if (phrase == Kind::parameter_list && is(Kind::colon))
        refuse_type();
      if (take_if(Kind::equal, children))
        children.push_back(test());
    }
    return children.empty() ? nullptr : parts_.phrase(phrase, std::move(children));
  }

  /// The colon and what it opens.
  void suite(std::vector<Part*>& children) {
    const Depth depth(*this);
    expect(Kind::colon, children);
    if (!is(Kind::newline)) {
      children.push_back(simple_statement());
      return;
    }
    std::vector<Part*> block{take()};
    expect(Kind::indent, block);
    while (!is(Kind::outdent) && !is(Kind::end))
      block.push_back(statement());
    expect(Kind::outdent, block);
    children.push_back(parts_.phrase(Kind::suite, std::move(block)));
  }

  Part* branches() {
    std::vector<Part*> children;
    while (is(Token::kw_if) || is(Token::kw_elif)) {
      if (!children.empty() && is(Token::kw_if))
        break;
      children.push_back(take());
      children.push_back(test());
      suite(children);
    }
    if (is(Token::kw_else)) {
      children.push_back(take());
      suite(children);
    }
    return parts_.phrase(Kind::if_statement, std::move(children));
  }

  Part* for_statement() {
    std::vector<Part*> children{take(), targets()};
    expect(Kind::name, children);
    children.push_back(expressions());
    suite(children);
    return parts_.phrase(Kind::for_statement, std::move(children));
  }

  Part* targets() {
    std::vector<Part*> children{operand()};
    while (take_if(Kind::comma, children))
      if (!is(Token::kw_in))
        children.push_back(operand());
    return parts_.phrase(Kind::targets, std::move(children));
  }

  // Expressions.

  bool ends_items() const {
    return is_closing(kind()) || is(Kind::newline) || is(Kind::semicolon) || is(Kind::equal) ||
           is(Kind::augmented) || is(Kind::colon) || is(Kind::end);
  }
  /// Items with commas between them; the first may be read already.
  Part* items(Kind phrase, std::vector<Part*> children) {
    if (children.empty())
      children.push_back(test());
    while (take_if(Kind::comma, children))
      if (!ends_items())
        children.push_back(test());
    return parts_.phrase(phrase, std::move(children));
  }
  Part* expressions() { return items(Kind::bare_tuple, {}); }

  Part* test() {
    if (is(Token::kw_lambda))
      return lambda();
    Part* const value = logical(0);
    if (!is(Token::kw_if))
      return value;
    std::vector<Part*> children{value, take(), logical(0)};
    expect(Kind::name, children);
    const Depth depth(*this);
    children.push_back(test());
    return parts_.phrase(Kind::conditional, std::move(children));
  }

  Part* lambda() {
    const Depth depth(*this);
    std::vector<Part*> children{take()};
    if (Part* const list = parameters(Kind::lambda_parameters))
      children.push_back(list);
    expect(Kind::colon, children);
    children.push_back(test());
    return parts_.phrase(Kind::lambda, std::move(children));
  }

  /// `or` is weaker than `and`, which is weaker than `not`.
  Part* logical(int level) {
    if (level == 2) {
      if (!is(Token::kw_not))
        return comparison();
      const Depth depth(*this);
      std::vector<Part*> children{take(), logical(2)};
      return parts_.phrase(Kind::logical, std::move(children));
    }
    const Token word = level == 0 ? Token::kw_or : Token::kw_and;
    std::vector<Part*> children{logical(level + 1)};
    while (is(word)) {
      children.push_back(take());
      children.push_back(logical(level + 1));
    }
    return parts_.phrase(Kind::logical, std::move(children));
  }

  Part* comparison() {
    std::vector<Part*> children{operation(0)};
    for (;;) {
      if (is(Token::kw_not)) {
        std::vector<Part*> words{take()};
        expect(Kind::name, words);
        children.push_back(parts_.phrase(Kind::not_in, std::move(words)));
      } else if (is(Kind::comparator) || is(Token::kw_in)) {
        children.push_back(take());
      } else {
        break;
      }
      children.push_back(operation(0));
    }
    return parts_.phrase(Kind::comparison, std::move(children));
  }

  Part* operation(size_t number) {
    if (number == levels.size())
      return signs();
    const OperatorLevel& level = levels[number];
    std::vector<Part*> children{operation(number + 1)};
    while (!is(Token::end) &&
           std::ranges::find(level.operators, token()) != level.operators.end()) {
      children.push_back(take());
      children.back()->rank = level.rank;
      children.push_back(operation(number + 1));
    }
    return parts_.phrase(level.phrase, std::move(children));
  }

  Part* signs() {
    if (!is(Token::plus) && !is(Token::minus) && !is(Token::tilde))
      return operand();
    const Depth depth(*this);
    std::vector<Part*> children{take(), signs()};
    return parts_.phrase(Kind::sign, std::move(children));
  }

  Part* operand() {
    const Depth depth(*this);
    std::vector<Part*> children{atom()};
    // Each bracket behind a bracket is one more level when the line is split.
    for (int in_a_row = 0; !has_failed(); in_a_row = is(Kind::dot) ? 0 : in_a_row + 1) {
      if (in_a_row > deepest_layout) {
        fail(cat("more than ", deepest_layout, " brackets in a row: cannot be laid out"));
      } else if (is(Kind::dot)) {
        std::vector<Part*> trailer{take()};
        expect(Kind::name, trailer);
        children.push_back(parts_.phrase(Kind::trailer, std::move(trailer)));
      } else if (is(Kind::open_paren)) {
        children.push_back(call());
      } else if (is(Kind::open_bracket)) {
        children.push_back(index());
      } else {
        break;
      }
    }
    return parts_.phrase(Kind::chain, std::move(children));
  }

  Part* atom() {
    if (is(Kind::open_paren) || is(Kind::open_bracket) || is(Kind::open_brace)) {
      const Kind opening = kind();
      std::vector<Part*> children{take()};
      if (!is_closing(kind()))
        children.push_back(
            opening == Kind::open_brace
                ? entries()
                : list(opening == Kind::open_paren ? Kind::tuple_items : Kind::list_items));
      expect(closing_of(opening), children);
      return parts_.phrase(Kind::atom, std::move(children));
    }
    if (!is(Kind::name) && !is(Kind::number) && !is(Kind::string)) {
      if (!has_failed())
        fail(cat("cannot be laid out: got ", to_string(token())));
      return parts_.token(Kind::end, {});
    }
    return take();
  }

  Part* list(Kind phrase) {
    Part* const first = test();
    if (is(Token::kw_for))
      return parts_.phrase(phrase, {first, clauses()});
    return items(phrase, {first});
  }

  Part* entries() {
    std::vector<Part*> children;
    while (!is_closing(kind()) && !has_failed()) {
      children.push_back(test());
      expect(Kind::colon, children);
      children.push_back(test());
      if (is(Token::kw_for)) {
        children.push_back(clauses());
        break;
      }
      if (!take_if(Kind::comma, children))
        break;
    }
    return parts_.phrase(Kind::dict_items, std::move(children));
  }

  /// Each clause holds the next.
  Part* clauses() {
    const Depth depth(*this);
    const Kind phrase = is(Token::kw_if) ? Kind::if_clause : Kind::for_clause;
    std::vector<Part*> children{take()};
    if (phrase == Kind::if_clause) {
      children.push_back(is(Token::kw_lambda) ? lambda() : logical(0));
    } else {
      children.push_back(targets());
      expect(Kind::name, children);
      children.push_back(logical(0));
    }
    if (is(Token::kw_for) || is(Token::kw_if))
      children.push_back(clauses());
    return parts_.phrase(phrase, std::move(children));
  }

  Part* call() {
    std::vector<Part*> children{take()};
    std::vector<Part*> list;
    while (!is_closing(kind()) && !has_failed()) {
      list.push_back(argument());
      if (!take_if(Kind::comma, list))
        break;
    }
    if (!list.empty())
      children.push_back(parts_.phrase(Kind::arguments, std::move(list)));
    expect(Kind::close_paren, children);
    return parts_.phrase(Kind::trailer, std::move(children));
  }

  Part* argument() {
    if (is(Kind::star) || is(Kind::star_star)) {
      std::vector<Part*> children{take(), test()};
      return parts_.phrase(Kind::argument, std::move(children));
    }
    std::vector<Part*> children{test()};
    if (take_if(Kind::equal, children))
      children.push_back(test());
    return parts_.phrase(Kind::argument, std::move(children));
  }

  Part* index() {
    std::vector<Part*> children{take()};
    std::vector<Part*> list;
    while (!is_closing(kind()) && !has_failed()) {
      list.push_back(subscript());
      if (!take_if(Kind::comma, list))
        break;
    }
    if (!list.empty())
      children.push_back(parts_.phrase(Kind::subscripts, std::move(list)));
    expect(Kind::close_bracket, children);
    return parts_.phrase(Kind::trailer, std::move(children));
  }

  Part* subscript() {
    std::vector<Part*> children;
    const auto ends = [&] { return is_closing(kind()) || is(Kind::colon) || is(Kind::comma); };
    if (!is(Kind::colon))
      children.push_back(test());
    if (take_if(Kind::colon, children)) {
      if (!ends())
        children.push_back(test());
      if (is(Kind::colon)) {
        std::vector<Part*> step{take()};
        if (!ends())
          step.push_back(test());
        children.push_back(parts_.phrase(Kind::slice_step, std::move(step)));
      }
    }
    return parts_.phrase(Kind::subscript, std::move(children));
  }

  Parts& parts_;
  int depth_ = 0;
};

}  // namespace

ReadTree read_tree(std::string_view text, Parts& parts, const LexerOptions& options) {
  return TreeReader(text, parts, options).read();
}

}  // namespace fettle::starlark::layout
