#include "template/go/parser.h"

#include <charconv>

#include "base/text.h"
#include "template/go/functions.h"

namespace fettle::go_template {
namespace {

constexpr int deepest = 200;

/// The code point of a text with one character.
std::optional<uint32_t> only_character(std::string_view text) {
  if (!is_valid_utf8(text) || text.empty())
    return std::nullopt;
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (text.size() != size)
    return std::nullopt;
  uint32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
  for (const char c : text.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return code;
}

class Parser {
 public:
  Parser(const std::string& name, std::string_view source, std::vector<Token> tokens)
      : name_(name), source_(source), tokens_(std::move(tokens)) {}

  Result<ParseResult> run() {
    ParseResult parsed;
    defined_ = &parsed.defined;
    std::string stop;
    parsed.root = TRY(list(stop, 0));
    if (!stop.empty())
      return fail(cat("unexpected {{", stop, "}}"), tokens_[at_ - 1].place);
    return parsed;
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  void skip_space() {
    while (peek().type == Token::space)
      ++at_;
  }
  const Token& take_word() {
    skip_space();
    return take();
  }
  Error fail(std::string message, Place place) const {
    return error_at(name_, place, std::move(message));
  }
  Error unexpected(const Token& token, std::string_view context) const {
    return fail(cat("unexpected ", shown(token), " in ", context), token.place);
  }
  /// A token as Go's errors show it.
  std::string shown(const Token& token) const {
    constexpr std::array<std::string_view, 12> words{"block", "break",    "continue", "define",
                                                     "else",  "end",      "if",       "nil",
                                                     "range", "template", "with",     "."};
    if (token.type == Token::end)
      return "EOF";
    if (token.type == Token::string)
      return cat("\"", replace_all(written(token), "\"", "\\\""), "\"");
    if (std::find(words.begin(), words.end(), token.value) != words.end())
      return cat("<", token.value, ">");
    return token.value.size() > 10 ? cat("\"", token.value.substr(0, 10), "\"...")
                                   : cat("\"", token.value, "\"");
  }
  /// The source of a token, which of a string has its quotes.
  std::string_view written(const Token& token) const {
    const auto next =
        std::upper_bound(tokens_.begin(), tokens_.end(), token.offset,
                         [](size_t offset, const Token& other) { return offset < other.offset; });
    const size_t end = next == tokens_.end() ? source_.size() : next->offset;
    return trim(source_.substr(token.offset, end - token.offset));
  }

  Status expect_right(std::string_view context) {
    const Token& token = take_word();
    return token.type == Token::right ? Status() : Status(unexpected(token, context));
  }

  /// Nodes up to an action that this list does not know: `stop` is its word.
  Result<std::unique_ptr<Node>> list(std::string& stop, int depth) {
    if (depth > deepest)
      return fail(cat("nested deeper than ", deepest), peek().place);
    auto made = std::make_unique<Node>();
    made->place = peek().place;
    while (true) {
      const Token& token = take();
      if (token.type == Token::end) {
        stop.clear();
        return made;
      }
      if (token.type == Token::text) {
        auto text = std::make_unique<Node>();
        text->type = Node::text;
        text->text_ = token.value;
        made->children.push_back(std::move(text));
        continue;
      }
      skip_space();
      const std::string word = peek().type == Token::identifier ? peek().value : "";
      if (word == "else" || word == "end") {
        ++at_;
        stop = word;
        return made;
      }
      if (auto node = TRY(action(word, depth)))
        made->children.push_back(std::move(node));
    }
  }

  Result<std::unique_ptr<Node>> action(const std::string& word, int depth) {
    if (word == "if" || word == "with" || word == "range") {
      ++at_;
      return branch(word, depth);
    }
    if (word == "define" && depth > 0)
      return unexpected(peek(), "command");
    if (word == "define" || word == "block" || word == "template") {
      ++at_;
      return named(word, depth);
    }
    auto node = std::make_unique<Node>();
    node->place = peek().place;
    if (word == "break" || word == "continue") {
      ++at_;
      node->type = word == "break" ? Node::break_loop : Node::continue_loop;
      TRY(expect_right(cat("{{", word, "}}")));
      if (loops_ == 0)
        return fail(cat("{{", word, "}} outside {{range}}"), node->place);
      return node;
    }
    node->type = Node::action;
    node->pipe = std::make_unique<Pipe>(TRY(pipe(Token::right, "command", depth)));
    return node;
  }

  Result<std::unique_ptr<Node>> branch(const std::string& word, int depth) {
    auto node = std::make_unique<Node>();
    node->type = word == "if" ? Node::branch_if : word == "with" ? Node::branch_with : Node::loop;
    node->place = peek().place;
    const size_t variables = variables_.size();
    node->pipe = std::make_unique<Pipe>(TRY(pipe(Token::right, word, depth)));
    std::string stop;
    loops_ += word == "range" ? 1 : 0;
    node->then = TRY(list(stop, depth + 1));
    loops_ -= word == "range" ? 1 : 0;
    if (stop == "else") {
      skip_space();
      // `{{else if x}}` is an `if` inside the else that shares the end.
      if (peek().type == Token::identifier && (peek().value == "if" || peek().value == "with") &&
          word != "range") {
        const std::string inner = take().value;
        node->otherwise = TRY(branch(inner, depth + 1));
        variables_.resize(variables);
        return node;
      }
      TRY(expect_right("else"));
      node->otherwise = TRY(list(stop, depth + 1));
    }
    if (stop != "end")
      return fail(stop.empty() ? cat("unexpected EOF; the `", word, "` of line ", node->place.line,
                                     " is not ended")
                               : cat("expected end; found {{", stop, "}}"),
                  peek().place);
    TRY(expect_right("end"));
    variables_.resize(variables);
    return node;
  }

  Result<std::unique_ptr<Node>> named(const std::string& word, int depth) {
    const Token& name = take_word();
    if (name.type != Token::string)
      return unexpected(name, cat(word, " clause"));
    auto call = std::make_unique<Node>();
    call->type = Node::call;
    call->text_ = name.value;
    call->place = name.place;
    if (word == "define") {
      TRY(expect_right("define clause"));
    } else {
      skip_space();
      if (peek().type == Token::right && word == "block")
        return fail("missing value for block clause", peek().place);
      if (peek().type == Token::right)
        ++at_;
      else
        call->pipe = std::make_unique<Pipe>(TRY(pipe(Token::right, word, depth)));
      if (word == "template")
        return call;
    }
    std::vector<std::string> outer{"$"};
    std::swap(outer, variables_);
    const int loops = std::exchange(loops_, 0);
    std::string stop;
    auto body = TRY(list(stop, depth + 1));
    if (stop != "end")
      return fail(stop.empty() ? cat("unexpected EOF; the `", word, "` of line ", call->place.line,
                                     " is not ended")
                               : cat("unexpected {{", stop, "}}"),
                  peek().place);
    TRY(expect_right("end"));
    std::swap(outer, variables_);
    loops_ = loops;
    // An empty definition replaces none and is replaced by any.
    std::unique_ptr<Node>& slot = (*defined_)[call->text_];
    const bool is_empty = is_blank(*body);
    if (slot && !is_empty && !is_blank(*slot))
      return fail(cat("template: multiple definition of template \"", call->text_, "\""),
                  call->place);
    if (!slot || !is_empty)
      slot = std::move(body);
    if (word == "define")
      return std::unique_ptr<Node>();
    return call;
  }

  static bool is_blank(const Node& node) {
    return std::all_of(node.children.begin(), node.children.end(), [](const auto& child) {
      return child->type == Node::text && trim(child->text_).empty();
    });
  }

  Result<Pipe> pipe(Token::Type closing, std::string_view context, int depth) {
    if (depth > deepest)
      return fail(cat("nested deeper than ", deepest), peek().place);
    skip_space();
    Pipe made;
    made.place = peek().place;
    const size_t begin = peek().offset;
    TRY(declarations(made, context));
    while (true) {
      Command command = TRY(this->command(closing, depth));
      if (command.operands.empty() && (made.commands.empty() || peek().type == Token::pipe))
        return peek().type == Token::pipe ? unexpected(peek(), context)
                                          : fail(cat("missing value for ", context), made.place);
      if (!command.operands.empty()) {
        const Operand::Type head = command.operands[0].type;
        if (!made.commands.empty() &&
            (head == Operand::literal || head == Operand::nil || head == Operand::dot))
          return fail(cat("non executable command in pipeline stage ", made.commands.size() + 1),
                      command.operands[0].place);
        made.commands.push_back(std::move(command));
      }
      const Token& token = take_word();
      if (token.type == closing) {
        made.text = trim(source_.substr(begin, token.offset - begin));
        return made;
      }
      if (closing == Token::close && (token.type == Token::right || token.type == Token::end))
        return fail("unclosed left paren", token.place);
      if (token.type == Token::close)
        return fail("unexpected right paren", token.place);
      if (token.type != Token::pipe)
        return unexpected(token, context);
    }
  }

  /// `$x :=`, `$x =`, and `$i, $x :=` of a range.
  Status declarations(Pipe& made, std::string_view context) {
    const size_t begin = at_;
    std::vector<std::string> names;
    while (peek().type == Token::variable) {
      names.push_back(take().value);
      skip_space();
      if (peek().type == Token::declare || peek().type == Token::assign) {
        made.assigns = take().type == Token::assign;
        for (const std::string& name : names) {
          if (!made.assigns)
            variables_.push_back(name);
          else if (std::find(variables_.begin(), variables_.end(), name) == variables_.end())
            return fail(cat("undefined variable: ", name), tokens_[begin].place);
        }
        made.variables = std::move(names);
        return {};
      }
      if (peek().type != Token::comma)
        break;
      if (context != "range" || names.size() > 1)
        return fail(cat("too many declarations in ", context), peek().place);
      ++at_;
      skip_space();
    }
    at_ = begin;
    return {};
  }

  Result<Command> command(Token::Type closing, int depth) {
    Command made;
    while (true) {
      skip_space();
      const Token::Type type = peek().type;
      if (type == closing || type == Token::pipe || type == Token::end || type == Token::right ||
          type == Token::close)
        return made;
      made.operands.push_back(TRY(operand(depth)));
      const Token::Type next = peek().type;
      if (next != Token::space && next != closing && next != Token::pipe && next != Token::right &&
          next != Token::close)
        return unexpected(peek(), "operand");
    }
  }

  Result<Operand> operand(int depth) {
    const Token token = take();
    Operand made;
    made.place = token.place;
    made.text = written(token);
    switch (token.type) {
      case Token::dot:
        made.type = Operand::dot;
        break;
      case Token::field:
        made.type = Operand::field;
        made.fields.push_back(token.value.substr(1));
        break;
      case Token::variable:
        made.type = Operand::variable;
        made.name = token.value;
        if (std::find(variables_.begin(), variables_.end(), token.value) == variables_.end())
          return fail(cat("undefined variable \"", token.value, "\""), token.place);
        break;
      case Token::identifier:
        made.type = Operand::function;
        made.name = token.value;
        if (!is_function(token.value))
          return fail(cat("function \"", token.value, "\" not defined",
                          suggestion(token.value, function_names())),
                      token.place);
        break;
      case Token::nil:
        made.type = Operand::nil;
        break;
      case Token::open:
        made.type = Operand::pipe;
        made.inner =
            std::make_unique<Pipe>(TRY(pipe(Token::close, "parenthesized pipeline", depth + 1)));
        made.text = cat("(", made.inner->text, ")");
        break;
      case Token::other:
      case Token::comma:
      case Token::assign:
      case Token::declare:
        return unexpected(token, "command");
      default:
        made.type = Operand::literal;
        made.value = TRY(literal(token));
    }
    while (peek().type == Token::field) {
      if (made.type == Operand::literal || made.type == Operand::nil || made.type == Operand::dot ||
          made.type == Operand::function)
        return made.type == Operand::function || made.type == Operand::dot
                   ? unexpected(peek(), "operand")
                   : fail(cat("unexpected . after term ", quoted_term(made.text)), peek().place);
      // Go tells the place of a chain as that of its second field.
      if (made.fields.size() == (made.type == Operand::field ? 1u : 0u))
        made.place = peek().place;
      made.text += peek().value;
      made.fields.push_back(take().value.substr(1));
    }
    return made;
  }

  static std::string quoted_term(std::string_view term) {
    return cat("\"", replace_all(term, "\"", "\\\""), "\"");
  }

  Result<Value> literal(const Token& token) const {
    if (token.type == Token::string)
      return Value(token.value);
    if (token.type == Token::boolean)
      return Value(token.value == "true");
    if (token.type == Token::character) {
      const std::optional<uint32_t> code = only_character(token.value);
      if (!code)
        return fail(cat("malformed character constant: ", written(token)), token.place);
      return Value(*code);
    }
    if (token.type != Token::number)
      return unexpected(token, "operand");
    const std::string plain = replace_all(token.value, "_", "");
    const bool negative = plain.starts_with('-');
    std::string_view digits =
        std::string_view(plain).substr(negative || plain.starts_with('+') ? 1 : 0);
    int base = 10;
    for (const auto& [prefix, number] :
         {std::pair("0x", 16), std::pair("0b", 2), std::pair("0o", 8)})
      if (lower_case(digits.substr(0, 2)) == prefix) {
        base = number;
        digits.remove_prefix(2);
        break;
      }
    if (base == 10 && digits.size() > 1 && digits[0] == '0' &&
        digits.find_first_not_of("01234567") == digits.npos)
      base = 8;
    uint64_t whole = 0;
    auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
    if (failure == std::errc() && end == digits.data() + digits.size())
      return Value::big_integer((negative ? "-" : "") + std::to_string(whole));
    if (base != 10)
      return fail(cat("illegal number syntax: ", quoted_term(token.value)), token.place);
    double real = 0;
    std::tie(end, failure) = [&] {
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), real);
      return std::pair(read.ptr, read.ec);
    }();
    if (failure != std::errc() || end != digits.data() + digits.size())
      return fail(
          cat(token.value.find_first_not_of("+-.i") == std::string::npos ? "illegal number syntax: "
                                                                         : "bad number syntax: ",
              quoted_term(token.value)),
          token.place);
    return Value(negative ? -real : real);
  }

  const std::string& name_;
  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int loops_ = 0;
  std::vector<std::string> variables_{"$"};
  std::map<std::string, std::unique_ptr<Node>>* defined_ = nullptr;
};

}  // namespace

Result<ParseResult> parse(const std::string& name, std::string_view source) {
  return Parser(name, source, TRY(lex(name, source))).run();
}

}  // namespace fettle::go_template
