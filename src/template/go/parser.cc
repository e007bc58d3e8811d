#include "template/go/parser.h"

#include <charconv>

#include "base/text.h"
#include "template/go/functions.h"

namespace fettle::go_template {
namespace {

constexpr int deepest = 200;

class Parser {
 public:
  Parser(const std::string& name, std::string_view source, std::vector<Token> tokens)
      : name_(name), source_(source), tokens_(std::move(tokens)) {}

  Result<Parsed> run() {
    Parsed parsed;
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
    const std::string what =
        token.type == Token::end ? "end of the template" : cat("`", token.value, "`");
    return fail(cat("unexpected ", what, " in ", context), token.place);
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
    if (word == "define" || word == "block" || word == "template") {
      ++at_;
      return named(word, depth);
    }
    auto node = std::make_unique<Node>();
    node->place = peek().place;
    if (word == "break" || word == "continue") {
      ++at_;
      if (loops_ == 0)
        return fail(cat("{{", word, "}} outside {{range}}"), node->place);
      node->type = word == "break" ? Node::break_loop : Node::continue_loop;
      TRY(expect_right(word));
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
      return fail(stop.empty() ? cat("unexpected EOF, `", word, "` is not ended")
                               : cat("unexpected {{", stop, "}}"),
                  node->place);
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
      TRY(expect_right(word));
    } else {
      skip_space();
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
      return fail(cat("unexpected EOF, `", word, "` is not ended"), call->place);
    TRY(expect_right("end"));
    std::swap(outer, variables_);
    loops_ = loops;
    (*defined_)[call->text_] = std::move(body);
    if (word == "define")
      return std::unique_ptr<Node>();
    return call;
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
      if (command.operands.empty())
        return made.commands.empty() ? fail(cat("missing value for ", context), made.place)
                                     : unexpected(peek(), context);
      made.commands.push_back(std::move(command));
      const Token& token = take_word();
      if (token.type == closing) {
        made.text = trim(source_.substr(begin, token.offset - begin));
        return made;
      }
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
            return fail(cat("undefined variable \"", name, "\""), tokens_[begin].place);
        }
        made.variables = std::move(names);
        return {};
      }
      if (peek().type != Token::comma || context != "range" || names.size() > 1)
        break;
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
      if (type == closing || type == Token::pipe || type == Token::end)
        return made;
      made.operands.push_back(TRY(operand(depth)));
      const Token::Type next = peek().type;
      if (next != Token::space && next != closing && next != Token::pipe)
        return unexpected(peek(), "operand");
    }
  }

  Result<Operand> operand(int depth) {
    const Token token = take();
    Operand made;
    made.place = token.place;
    made.text = token.value;
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
      default:
        made.type = Operand::literal;
        made.value = TRY(literal(token));
    }
    while (peek().type == Token::field) {
      if (made.type == Operand::literal || made.type == Operand::nil || made.type == Operand::dot ||
          made.type == Operand::function)
        return unexpected(peek(), "operand");
      made.text += peek().value;
      made.fields.push_back(take().value.substr(1));
    }
    return made;
  }

  Result<Value> literal(const Token& token) const {
    if (token.type == Token::string)
      return Value(token.value);
    if (token.type == Token::boolean)
      return Value(token.value == "true");
    if (token.type == Token::character) {
      if (token.value.size() != 1)
        return fail("a character constant has one character", token.place);
      return Value(static_cast<unsigned char>(token.value[0]));
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
    uint64_t whole = 0;
    auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
    if (failure == std::errc() && end == digits.data() + digits.size())
      return Value::big_integer((negative ? "-" : "") + std::to_string(whole));
    double real = 0;
    std::tie(end, failure) = [&] {
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), real);
      return std::pair(read.ptr, read.ec);
    }();
    if (failure != std::errc() || end != digits.data() + digits.size())
      return fail(cat("bad number syntax: `", token.value, "`"), token.place);
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

Result<Parsed> parse(const std::string& name, std::string_view source) {
  return Parser(name, source, TRY(lex(name, source))).run();
}

}  // namespace fettle::go_template
