/// Words of JMESPath, and the tree of them: each operator binds what stands to its right as tightly
/// as `strength_of` says.

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "value/jmespath_node.h"
#include "value/json.h"

namespace fettle::jmespath {
namespace {

constexpr size_t longest = 10'000;       ///< characters of an expression
constexpr int deepest_expression = 100;  ///< expressions in one another, which recursion follows

struct Token {
  enum class Type : uint8_t { end, word, quoted, literal, number, sign };
  Type type = Type::end;
  std::string text{};  ///< of a sign as it is written
  Value value{};
  size_t at = 0;
};

Error error_at(size_t at, std::string_view what) {
  return user_error(cat("JMESPath, column ", at + 1, ": ", what));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> scan() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
      Token token;
      token.at = at_;
      if (at_ < text_.size())
        TRY(read(token));
      const bool is_end = token.type == Token::Type::end;
      tokens.push_back(std::move(token));
      if (is_end)
        return tokens;
    }
  }

 private:
  static bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

  Status read(Token& token) {
    const char c = text_[at_];
    if (is_letter(c)) {
      token.type = Token::Type::word;
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_])))
        token.text += text_[at_++];
      return {};
    }
    if (is_digit(c) || (c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      return read_number(token);
    if (c == '"' || c == '\'' || c == '`')
      return read_quoted(token, c);
    static constexpr std::array<std::string_view, 24> signs{
        "||", "&&", "==", "!=", "<=", ">=", "[?", "[]", "|", "&", "<", ">",
        "!",  "[",  "]",  "{",  "}",  "(",  ")",  ".",  ",", ":", "*", "@"};
    for (const std::string_view sign : signs)
      if (text_.substr(at_).starts_with(sign)) {
        token.type = Token::Type::sign;
        token.text = sign;
        at_ += sign.size();
        return {};
      }
    return error_at(at_, cat("`", std::string_view(&c, 1), "` means nothing here"));
  }

  Status read_number(Token& token) {
    const size_t begin = at_++;
    while (at_ < text_.size() && is_digit(text_[at_]))
      ++at_;
    token.type = Token::Type::number;
    token.value = Value::big_integer(text_.substr(begin, at_ - begin));
    if (!token.value.integer())
      return error_at(begin, "this number is too large");
    return {};
  }

  /// `"a name"`, `'a text'` and `` `JSON` ``.
  Status read_quoted(Token& token, char quote) {
    const size_t begin = at_++;
    std::string inside;
    while (at_ < text_.size() && text_[at_] != quote) {
      const bool is_escape = text_[at_] == '\\' && at_ + 1 < text_.size();
      const bool drops_escape = is_escape && quote != '"' && text_[at_ + 1] == quote;
      if (is_escape && !drops_escape)
        inside += text_[at_];
      at_ += is_escape ? 1 : 0;
      inside += text_[at_++];
    }
    if (at_ == text_.size())
      return error_at(begin, cat("`", std::string_view(&quote, 1), "` is not closed"));
    ++at_;
    token.type = quote == '"' ? Token::Type::quoted : Token::Type::literal;
    if (quote == '\'') {
      token.value = Value(inside);
      return {};
    }
    Result<Value> value = read_json(quote == '"' ? cat("\"", inside, "\"") : inside, "");
    // Idem's implementation takes `word` for a text.
    if (!value && quote == '`')
      value = read_json(cat("\"", trim(inside), "\""), "");
    if (!value)
      return error_at(begin, "the quoted text is not JSON");
    token.value = *std::move(value);
    if (quote == '"')
      token.text = token.value.text().str();
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<NodePointer> parse() {
    NodePointer root = TRY(expression(0));
    if (here().type != Token::Type::end)
      return unexpected("the end");
    return root;
  }

 private:
  const Token& here() const { return tokens_[next_]; }
  const Token& after() const { return tokens_[std::min(next_ + 1, tokens_.size() - 1)]; }
  static bool is_sign(const Token& token, std::string_view sign) {
    return token.type == Token::Type::sign && token.text == sign;
  }
  bool takes(std::string_view sign) {
    if (!is_sign(here(), sign))
      return false;
    ++next_;
    return true;
  }
  Error unexpected(std::string_view wanted) const {
    return error_at(here().at, cat("expected ", wanted));
  }
  Status expect(std::string_view sign) {
    return takes(sign) ? Status() : Status(unexpected(cat("`", sign, "`")));
  }

  static NodePointer node(Node::Type type, std::vector<NodePointer> parts = {},
                          std::string text = {}) {
    return std::make_shared<Node>(
        Node{.type = type, .text = std::move(text), .parts = std::move(parts)});
  }

  static constexpr int pipe = 1, projected = 10, flattens = 9, star = 20, filters = 21, dot = 40,
                       negates = 45, brackets = 55;

  static int strength_of(const Token& token) {
    if (token.type != Token::Type::sign)
      return 0;
    static constexpr std::array<std::pair<std::string_view, int>, 14> strengths{{{"|", pipe},
                                                                                 {"||", 2},
                                                                                 {"&&", 3},
                                                                                 {"==", 5},
                                                                                 {"!=", 5},
                                                                                 {"<", 5},
                                                                                 {">", 5},
                                                                                 {"<=", 5},
                                                                                 {">=", 5},
                                                                                 {"[]", flattens},
                                                                                 {"[?", filters},
                                                                                 {".", dot},
                                                                                 {"[", brackets},
                                                                                 {"(", 60}}};
    for (const auto& [sign, strength] : strengths)
      if (token.text == sign)
        return strength;
    return 0;
  }

  Result<NodePointer> expression(int strength) {
    if (++depth_ > deepest_expression)
      return error_at(here().at, "the expression is nested too deep");
    NodePointer left = TRY(first());
    while (strength < strength_of(here())) {
      left = TRY(behind(left));
      // Parts in a row nest, too.
      if (++row_ > longest / 4)
        return error_at(here().at, "the expression is too long");
    }
    --depth_;
    return left;
  }

  /// Parses the beginning of an expression.
  Result<NodePointer> first() {
    const Token token = here();
    switch (token.type) {
      case Token::Type::literal:
        ++next_;
        return std::make_shared<Node>(Node{.type = Node::Type::literal, .value = token.value});
      case Token::Type::word:
        ++next_;
        return is_sign(here(), "(") ? call(token.text) : node(Node::Type::field, {}, token.text);
      case Token::Type::quoted:
        ++next_;
        return node(Node::Type::field, {}, token.text);
      case Token::Type::sign:
        break;
      default:
        return unexpected("an expression");
    }
    const NodePointer current = node(Node::Type::current);
    if (is_sign(token, "[?") || is_sign(token, "[]"))
      return behind(current);
    if (is_sign(token, "[")) {
      const bool is_of_items =
          after().type == Token::Type::number || is_sign(after(), ":") ||
          (is_sign(after(), "*") && next_ + 2 < tokens_.size() && is_sign(tokens_[next_ + 2], "]"));
      if (is_of_items)
        return behind(current);
      ++next_;
      return several();
    }
    if (takes("@"))
      return current;
    if (takes("*"))
      return node(Node::Type::value_projection, {current, TRY(of_each(star))});
    if (takes("{"))
      return pairs();
    if (takes("!"))
      return node(Node::Type::negation, {TRY(expression(negates))});
    if (takes("&"))
      return node(Node::Type::reference, {TRY(expression(0))});
    if (takes("(")) {
      NodePointer inside = TRY(expression(0));
      TRY(expect(")"));
      return inside;
    }
    return unexpected("an expression");
  }

  /// Parses what follows `left`.
  Result<NodePointer> behind(const NodePointer& left) {
    const std::string sign = here().text;
    if (takes(".")) {
      if (takes("*"))
        return node(Node::Type::value_projection, {left, TRY(of_each(star))});
      return node(Node::Type::chain, {left, TRY(behind_dot(dot))});
    }
    if (takes("|"))
      return node(Node::Type::chain, {left, TRY(expression(pipe))});
    if (takes("||"))
      return node(Node::Type::either, {left, TRY(expression(2))});
    if (takes("&&"))
      return node(Node::Type::both, {left, TRY(expression(3))});
    if (takes("[]"))
      return node(Node::Type::projection,
                  {node(Node::Type::flatten, {left}), TRY(of_each(flattens))});
    if (takes("[?")) {
      const NodePointer condition = TRY(expression(0));
      TRY(expect("]"));
      return node(Node::Type::filter_projection, {left, TRY(of_each(filters)), condition});
    }
    if (takes("["))
      return items_of(left);
    if (is_sign(here(), "("))
      return unexpected("the name of a function before `(`");
    ++next_;  // a comparison
    return node(Node::Type::comparison, {left, TRY(expression(5))}, sign);
  }

  /// `[3]`, `[1:2]` and `[*]`.
  Result<NodePointer> items_of(const NodePointer& left) {
    if (takes("*")) {
      TRY(expect("]"));
      return node(Node::Type::projection, {left, TRY(of_each(star))});
    }
    Node picked{.type = Node::Type::index};
    picked.numbers.emplace_back();
    while (!takes("]")) {
      if (here().type == Token::Type::number && !picked.numbers.back()) {
        picked.numbers.back() = here().value.integer();
        ++next_;
      } else if (picked.numbers.size() < 3 && takes(":")) {
        picked.type = Node::Type::slice;
        picked.numbers.emplace_back();
      } else {
        return unexpected("a number or `]`");
      }
    }
    const bool is_slice = picked.type == Node::Type::slice;
    if (!is_slice && !picked.numbers[0])
      return unexpected("a number");
    picked.numbers.resize(is_slice ? 3 : 1);
    if (is_slice && picked.numbers[2] == 0)
      return unexpected("a step other than 0");
    NodePointer chained =
        node(Node::Type::chain, {left, std::make_shared<Node>(std::move(picked))});
    return is_slice ? node(Node::Type::projection, {chained, TRY(of_each(star))}) : chained;
  }

  /// Parses what a projection takes from each item.
  Result<NodePointer> of_each(int strength) {
    if (strength_of(here()) < projected)
      return node(Node::Type::current);
    if (takes("."))
      return behind_dot(strength);
    if (is_sign(here(), "[") || is_sign(here(), "[?"))
      return expression(strength);
    return unexpected("`.` or `[`");
  }

  Result<NodePointer> behind_dot(int strength) {
    if (here().type == Token::Type::word || here().type == Token::Type::quoted ||
        is_sign(here(), "*"))
      return expression(strength);
    if (takes("["))
      return several();
    if (takes("{"))
      return pairs();
    return unexpected("a name, `*`, `[` or `{`");
  }

  Result<NodePointer> several() {
    std::vector<NodePointer> parts;
    do
      parts.push_back(TRY(expression(0)));
    while (takes(","));
    TRY(expect("]"));
    return node(Node::Type::list, std::move(parts));
  }

  Result<NodePointer> pairs() {
    Node made{.type = Node::Type::dict};
    do {
      if (here().type != Token::Type::word && here().type != Token::Type::quoted)
        return unexpected("a name");
      made.keys.emplace_back(here().text);
      ++next_;
      TRY(expect(":"));
      made.parts.push_back(TRY(expression(0)));
    } while (takes(","));
    TRY(expect("}"));
    return std::make_shared<Node>(std::move(made));
  }

  Result<NodePointer> call(const std::string& name) {
    TRY(expect("("));
    std::vector<NodePointer> arguments;
    while (!takes(")")) {
      if (!arguments.empty())
        TRY(expect(","));
      arguments.push_back(TRY(expression(0)));
    }
    return node(Node::Type::call, std::move(arguments), name);
  }

  std::vector<Token> tokens_;
  size_t next_ = 0;
  int depth_ = 0;
  size_t row_ = 0;
};

}  // namespace

Result<NodePointer> parse(std::string_view text) {
  if (text.size() > longest)
    return user_error("a JMESPath expression may have 10000 characters");
  return Parser(TRY(Scanner(text).scan())).parse();
}

}  // namespace fettle::jmespath
