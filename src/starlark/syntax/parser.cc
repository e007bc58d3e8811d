#include "starlark/syntax/parser.h"

#include "base/text.h"

namespace fettle::starlark {
namespace {

/// How tightly a binary operator binds; 0 for what is none.
int precedence(Token token) {
  switch (token) {
    case Token::kw_or:
      return 1;
    case Token::kw_and:
      return 2;
    case Token::equal_equal:
    case Token::not_equal:
    case Token::less:
    case Token::greater:
    case Token::less_equal:
    case Token::greater_equal:
    case Token::kw_in:
    case Token::not_in:
      return 4;
    case Token::pipe:
      return 5;
    case Token::caret:
      return 6;
    case Token::ampersand:
      return 7;
    case Token::less_less:
    case Token::greater_greater:
      return 8;
    case Token::plus:
    case Token::minus:
      return 9;
    case Token::star:
    case Token::slash:
    case Token::slash_slash:
    case Token::percent:
      return 10;
    default:
      return 0;
  }
}
constexpr int comparison_precedence = 4;
constexpr int not_precedence = 3;

class Parser {
 public:
  Parser(std::string_view source, Arena& arena, Symbols& symbols, LexerOptions options)
      : lexer_(source, arena, symbols, options),
        arena_(arena),
        symbols_(symbols),
        as_of_2023_(options.as_of_2023) {}

  ParsedFile file() {
    auto* function = arena_.make<FunctionNode>();
    function->name = "<toplevel>";
    const size_t mark = statements_.size();
    lexer_.next();
    while (lexer_.token != Token::end) {
      if (lexer_.token == Token::newline)
        lexer_.next();
      else
        statement();
    }
    function->body = take(statements_, mark);
    function->bound = take(bound_, 0);
    return result(function);
  }

  ParsedFile expression_only() {
    auto* function = arena_.make<FunctionNode>();
    function->name = "<expr>";
    lexer_.next();
    function->result = expression_list(false);
    if (lexer_.token == Token::newline)
      lexer_.next();
    if (lexer_.token != Token::end)
      unexpected("end of file");
    return result(function);
  }

 private:
  ParsedFile result(FunctionNode* function) {
    if (lexer_.failed)
      return {nullptr, lexer_.error};
    return {function, std::nullopt};
  }

  template <typename T>
  std::span<T> take(std::vector<T>& stack, size_t mark) {
    const std::span<T> items = arena_.copy(std::span<const T>(stack).subspan(mark));
    stack.resize(mark);
    return items;
  }

  std::string current() const {
    if (lexer_.token == Token::reserved && !as_of_2023_)
      return std::string(lexer_.symbol->text);
    return to_string(lexer_.token);
  }
  void unexpected(std::string_view wanted) {
    lexer_.fail(lexer_.position(), cat("got ", current(), ", want ", wanted));
  }
  bool accept(Token token) {
    if (lexer_.token != token)
      return false;
    lexer_.next();
    return true;
  }
  uint32_t expect(Token token) {
    const uint32_t at = lexer_.at;
    if (lexer_.token == token)
      lexer_.next();
    else
      unexpected(to_string(token));
    return at;
  }

  /// Counts nesting; false when it is too deep.
  struct Level {
    Parser& parser;
    bool ok;
    explicit Level(Parser& parser_) : parser(parser_), ok(++parser_.depth_ <= deepest_source) {
      if (!ok)
        parser.lexer_.fail(parser.lexer_.at, "source is nested too deeply");
    }
    ~Level() { --parser.depth_; }
  };

  // Statements.

  void statement() {
    const Level level(*this);
    if (!level.ok)
      return;
    switch (lexer_.token) {
      case Token::kw_def:
        definition();
        return;
      case Token::kw_if:
        if_statement();
        return;
      case Token::kw_for:
        for_statement();
        return;
      case Token::kw_while:
        while_statement();
        return;
      default:
        simple_statements();
        return;
    }
  }

  void simple_statements() {
    for (;;) {
      statements_.push_back(small_statement());
      if (lexer_.token != Token::semicolon)
        break;
      lexer_.next();
      if (lexer_.token == Token::newline || lexer_.token == Token::end)
        break;
    }
    if (lexer_.token != Token::end)
      expect(Token::newline);
  }

  Node* small_statement() {
    const uint32_t at = lexer_.at;
    switch (lexer_.token) {
      case Token::kw_return: {
        lexer_.next();
        Node* value = nullptr;
        if (lexer_.token != Token::end && lexer_.token != Token::newline &&
            lexer_.token != Token::semicolon)
          value = expression_list(false);
        return make<ReturnNode>(NodeKind::return_statement, at, value);
      }
      case Token::kw_break:
        lexer_.next();
        return make<Node>(NodeKind::break_statement, at);
      case Token::kw_continue:
        lexer_.next();
        return make<Node>(NodeKind::continue_statement, at);
      case Token::kw_pass:
        lexer_.next();
        return make<Node>(NodeKind::pass_statement, at);
      case Token::kw_load:
        return load_statement();
      default:
        break;
    }
    Node* left = expression_list(false);
    if (lexer_.token == Token::colon && left->kind == NodeKind::identifier &&
        !left->parenthesized) {
      lexer_.next();  // an annotation, parsed only
      test();
      if (lexer_.token != Token::equal)
        return make<Node>(NodeKind::pass_statement, at);
    }
    const uint32_t op_at = lexer_.at;
    if (lexer_.token == Token::equal) {
      lexer_.next();
      Node* value = expression_list(false);
      bind_target(left);
      return make<AssignNode>(NodeKind::assign, op_at, left, value);
    }
    if (lexer_.token >= Token::plus_equal && lexer_.token <= Token::greater_greater_equal) {
      const Token op = plain_operator(lexer_.token);
      lexer_.next();
      Node* value = expression_list(false);
      bind_target(left);
      return make<AugmentedAssignNode>(NodeKind::augmented_assign, op_at, op, left, value);
    }
    return make<ExpressionStatement>(NodeKind::expression_statement, at, left);
  }

  static Token plain_operator(Token assigning) {
    switch (assigning) {
      case Token::plus_equal:
        return Token::plus;
      case Token::minus_equal:
        return Token::minus;
      case Token::star_equal:
        return Token::star;
      case Token::slash_equal:
        return Token::slash;
      case Token::slash_slash_equal:
        return Token::slash_slash;
      case Token::percent_equal:
        return Token::percent;
      case Token::ampersand_equal:
        return Token::ampersand;
      case Token::pipe_equal:
        return Token::pipe;
      case Token::caret_equal:
        return Token::caret;
      case Token::less_less_equal:
        return Token::less_less;
      default:
        return Token::greater_greater;
    }
  }

  /// Notes the names that a target binds; the resolver says what cannot be one.
  void bind_target(Node* target) {
    if (lexer_.failed)
      return;
    if (target->kind == NodeKind::identifier) {
      bound_.push_back(as<Identifier>(target));
    } else if (target->kind == NodeKind::list || target->kind == NodeKind::tuple) {
      for (Node* item : as<SequenceNode>(target)->items)
        bind_target(item);
    }
  }

  void definition() {
    const uint32_t begin = lexer_.at;
    lexer_.next();
    const uint32_t name_at = lexer_.at;
    Identifier* name = identifier();
    if (lexer_.failed)
      return;
    bound_.push_back(name);
    auto* def = make<DefNode>(NodeKind::def_statement, name_at, name);
    def->function.name = name->symbol->text;
    def->function.at = name_at;
    def->function.begin = begin;
    expect(Token::left_paren);
    def->function.parameters = parameters(Token::right_paren);
    expect(Token::right_paren);
    if (lexer_.token == Token::minus && lexer_.follows('>')) {  // a result type, parsed only
      lexer_.next();
      lexer_.next();
      test();
    }
    expect(Token::colon);
    const size_t mark = bound_.size();
    def->function.body = suite();
    def->function.bound = take(bound_, mark);
    statements_.push_back(def);
  }

  std::span<ParameterNode> parameters(Token closing) {
    const size_t mark = parameters_.size();
    while (lexer_.token != Token::right_paren && lexer_.token != Token::colon &&
           lexer_.token != Token::end) {
      if (parameters_.size() > mark) {
        expect(Token::comma);
        if (lexer_.token == Token::right_paren)
          break;
      }
      const uint32_t at = lexer_.at;
      ParameterNode parameter{ParameterKind::required, at, at, nullptr, nullptr};
      if (accept(Token::star)) {
        parameter.kind = ParameterKind::bare_star;
        parameter.name_at = lexer_.at;
        if (lexer_.token == Token::identifier) {
          parameter.kind = ParameterKind::rest;
          parameter.name = identifier()->symbol;
        }
      } else if (accept(Token::star_star)) {
        parameter.kind = ParameterKind::named_rest;
        parameter.name_at = lexer_.at;
        Identifier* id = identifier();
        parameter.name = id == nullptr ? nullptr : id->symbol;
      } else {
        Identifier* id = identifier();
        parameter.name = id == nullptr ? nullptr : id->symbol;
      }
      if (closing == Token::right_paren && parameter.kind != ParameterKind::bare_star &&
          accept(Token::colon))
        test();
      const uint32_t equal_at = lexer_.at;
      if (parameter.kind == ParameterKind::required && accept(Token::equal)) {
        parameter.name_at = equal_at;
        parameter.kind = ParameterKind::optional;
        parameter.fallback = test();
      }
      if (lexer_.failed)
        return {};
      parameters_.push_back(parameter);
    }
    return take(parameters_, mark);
  }

  std::span<Node*> suite() {
    const size_t mark = statements_.size();
    if (lexer_.token == Token::newline) {
      lexer_.next();
      expect(Token::indent);
      while (lexer_.token != Token::outdent && lexer_.token != Token::end) {
        if (lexer_.token == Token::newline)
          lexer_.next();
        else
          statement();
      }
      if (!lexer_.failed && lexer_.token != Token::end)
        expect(Token::outdent);
    } else {
      simple_statements();
    }
    return take(statements_, mark);
  }

  void if_statement() {
    const uint32_t at = lexer_.at;
    const size_t mark = branches_.size();
    uint32_t branch_at = at;
    lexer_.next();
    for (;;) {
      Node* condition = test();
      expect(Token::colon);
      const std::span<Node*> body = suite();
      branches_.push_back({condition, body, branch_at});
      branch_at = lexer_.at;
      if (!accept(Token::kw_elif))
        break;
    }
    if (accept(Token::kw_else)) {
      expect(Token::colon);
      const std::span<Node*> body = suite();
      branches_.push_back({nullptr, body, branch_at});
    }
    statements_.push_back(make<IfNode>(NodeKind::if_statement, at, take(branches_, mark)));
  }

  void for_statement() {
    const uint32_t at = lexer_.at;
    lexer_.next();
    Node* target = loop_variables();
    bind_target(target);
    expect(Token::kw_in);
    Node* iterable = expression_list(false);
    expect(Token::colon);
    const std::span<Node*> body = suite();
    statements_.push_back(make<ForNode>(NodeKind::for_statement, at, target, iterable, body));
  }

  void while_statement() {
    const uint32_t at = lexer_.at;
    lexer_.next();
    Node* condition = test();
    expect(Token::colon);
    const std::span<Node*> body = suite();
    statements_.push_back(make<WhileNode>(NodeKind::while_statement, at, condition, body));
  }

  /// The targets of a `for`: primary expressions with commas between.
  Node* loop_variables() {
    const uint32_t at = lexer_.at;
    Node* first = primary_with_suffix();
    if (lexer_.token != Token::comma)
      return first;
    const size_t mark = nodes_.size();
    nodes_.push_back(first);
    while (accept(Token::comma))
      nodes_.push_back(primary_with_suffix());
    return make<SequenceNode>(NodeKind::tuple, at, take(nodes_, mark));
  }

  Node* load_statement() {
    const uint32_t at = lexer_.at;
    lexer_.next();
    const uint32_t paren_at = expect(Token::left_paren);
    auto* load = make<LoadNode>(NodeKind::load_statement, at);
    load->module_at = lexer_.at;
    if (lexer_.token != Token::string) {
      lexer_.fail(lexer_.position(), "first operand of load statement must be a string literal");
      return load;
    }
    load->module = lexer_.text;
    lexer_.next();
    std::vector<LoadedName> names;
    while (lexer_.token != Token::right_paren && lexer_.token != Token::end) {
      expect(Token::comma);
      if (lexer_.token == Token::right_paren)
        break;
      LoadedName name{};
      name.at = lexer_.at;
      if (lexer_.token == Token::string) {
        name.name = lexer_.text;
        ++name.at;  // the name within its quotes
        name.local = make<Identifier>(NodeKind::identifier, name.at, symbol(lexer_.text));
        lexer_.next();
      } else if (lexer_.token == Token::identifier) {
        name.local = identifier();
        if (lexer_.token != Token::equal) {
          lexer_.fail(lexer_.position(),
                      cat("load operand must be \"", name.local->symbol->text, "\" or ",
                          name.local->symbol->text, "=\"originalname\" (want '=' after ",
                          name.local->symbol->text, ")"));
          return load;
        }
        lexer_.next();
        if (lexer_.token != Token::string) {
          lexer_.fail(lexer_.position(), cat("original name of loaded symbol must be quoted: ",
                                             name.local->symbol->text, "=\"originalname\""));
          return load;
        }
        name.at = lexer_.at + 1;
        name.name = lexer_.text;
        lexer_.next();
      } else if (lexer_.token == Token::right_paren) {
        lexer_.fail(lexer_.position(), "trailing comma in load statement");
        return load;
      } else {
        lexer_.fail(
            lexer_.position(),
            cat("load operand must be \"name\" or localname=\"name\" (got ", current(), ")"));
        return load;
      }
      name.local->loaded = true;
      bound_.push_back(name.local);
      names.push_back(name);
    }
    expect(Token::right_paren);
    if (names.empty() && !lexer_.failed)
      lexer_.fail(paren_at, "load statement must import at least 1 symbol");
    load->names = arena_.copy(std::span<const LoadedName>(names));
    return load;
  }

  Symbol* symbol(std::string_view text) { return symbols_.find(text); }

  // Expressions.

  /// `a, b` makes a tuple; a trailing comma only inside parentheses.
  Node* expression_list(bool in_parens) {
    const uint32_t at = lexer_.at;
    Node* first = test();
    if (lexer_.token != Token::comma)
      return first;
    const size_t mark = nodes_.size();
    nodes_.push_back(first);
    while (lexer_.token == Token::comma) {
      const uint32_t comma = lexer_.at;
      lexer_.next();
      if (!starts_expression(lexer_.token)) {
        if (!in_parens)
          lexer_.fail(comma, "unparenthesized tuple with trailing comma");
        break;
      }
      nodes_.push_back(test());
    }
    return make<SequenceNode>(NodeKind::tuple, at, take(nodes_, mark));
  }

  static bool starts_expression(Token token) {
    switch (token) {
      case Token::end:
      case Token::newline:
      case Token::equal:
      case Token::right_brace:
      case Token::right_bracket:
      case Token::right_paren:
      case Token::semicolon:
        return false;
      default:
        return true;
    }
  }

  Node* test() {
    if (lexer_.token == Token::kw_lambda)
      return lambda(true);
    const Level level(*this);
    if (!level.ok)
      return nothing();
    Node* value = operation(1);
    if (lexer_.token != Token::kw_if)
      return value;
    const uint32_t at = lexer_.at;
    lexer_.next();
    Node* condition = operation(1);
    if (lexer_.token != Token::kw_else) {
      lexer_.fail(at, "conditional expression without else clause");
      return value;
    }
    lexer_.next();
    Node* otherwise = test();
    return make<ConditionalNode>(NodeKind::conditional, at, condition, value, otherwise);
  }

  /// As `test`, but without a conditional at the top: what follows `if` in a comprehension.
  Node* test_no_conditional() {
    if (lexer_.token == Token::kw_lambda)
      return lambda(false);
    return operation(1);
  }

  Node* lambda(bool conditional) {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    auto* node = make<LambdaNode>(NodeKind::lambda, at);
    if (!level.ok)
      return node;
    node->function.name = "lambda";
    node->function.at = node->function.begin = at;
    node->function.parameters = parameters(Token::colon);
    expect(Token::colon);
    const size_t mark = bound_.size();
    node->function.result = conditional ? test() : test_no_conditional();
    node->function.bound = take(bound_, mark);
    return node;
  }

  Node* operation(int least) {
    if (least <= not_precedence && lexer_.token == Token::kw_not) {
      const Level level(*this);
      const uint32_t at = lexer_.at;
      lexer_.next();
      if (!level.ok)
        return nothing();
      Node* operand = operation(not_precedence);
      Node* left = make<UnaryNode>(NodeKind::unary, at, Token::kw_not, operand);
      return more_operators(left, least);
    }
    return more_operators(primary_with_suffix(), least);
  }

  Node* more_operators(Node* left, int least) {
    for (;;) {
      if (lexer_.token == Token::kw_not) {
        // Only `not in` can follow an operand.
        if (comparison_precedence < least)
          return left;
        if (!not_in())
          return left;
      }
      const Token op = lexer_.token;
      const int level = precedence(op);
      if (level < least || level == 0)
        return left;
      const uint32_t at = lexer_.at;
      if (level <= 2) {
        // A chain of `and` or of `or` is one node.
        const size_t mark = nodes_.size();
        nodes_.push_back(left);
        while (lexer_.token == op) {
          lexer_.next();
          nodes_.push_back(operation(level + 1));
        }
        left = make<LogicalNode>(NodeKind::logical, at, op == Token::kw_and, take(nodes_, mark));
        continue;
      }
      lexer_.next();
      Node* right = operation(level + 1);
      left = make<BinaryNode>(NodeKind::binary, at, op, left, right);
      if (level == comparison_precedence) {
        if (lexer_.token == Token::kw_not && !not_in())
          return left;
        const Token second = lexer_.token;
        if (precedence(second) == comparison_precedence) {
          lexer_.fail(lexer_.position(),
                      cat(bare(op), " does not associate with ", bare(second), " (use parens)"));
          return left;
        }
      }
    }
  }

  /// Makes one token of `not in`; false after an error.
  bool not_in() {
    lexer_.next();
    if (lexer_.token != Token::kw_in) {
      unexpected("in");
      return false;
    }
    lexer_.token = Token::not_in;
    return true;
  }

  static std::string bare(Token op) {
    std::string text = to_string(op);
    if (text.size() > 2 && text.front() == '\'')
      text = text.substr(1, text.size() - 2);
    return text;
  }

  Node* primary_with_suffix() {
    Node* left = primary();
    for (;;) {
      const uint32_t at = lexer_.at;
      switch (lexer_.token) {
        case Token::dot: {
          lexer_.next();
          const Identifier* name = identifier();
          if (name == nullptr)
            return left;
          left = make<AttributeNode>(NodeKind::attribute, at, left, name->symbol);
          break;
        }
        case Token::left_bracket:
          left = index_or_slice(left);
          break;
        case Token::left_paren:
          left = call(left);
          break;
        default:
          return left;
      }
    }
  }

  Node* index_or_slice(Node* object) {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    if (!level.ok)
      return object;
    Node* low = nullptr;
    if (lexer_.token != Token::colon) {
      low = expression_list(false);
      if (accept(Token::right_bracket))
        return make<IndexNode>(NodeKind::index, at, object, low);
    }
    Node* high = nullptr;
    Node* step = nullptr;
    if (lexer_.token != Token::colon) {
      unexpected("']'");
      return object;
    }
    lexer_.next();
    if (lexer_.token != Token::colon && lexer_.token != Token::right_bracket)
      high = test();
    if (accept(Token::colon)) {
      if (lexer_.token != Token::right_bracket)
        step = test();
    }
    expect(Token::right_bracket);
    return make<SliceNode>(NodeKind::slice, at, object, low, high, step);
  }

  Node* call(Node* function) {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    if (!level.ok)
      return function;
    const size_t mark = arguments_.size();
    while (lexer_.token != Token::right_paren && lexer_.token != Token::end) {
      if (arguments_.size() > mark) {
        expect(Token::comma);
        if (lexer_.token == Token::right_paren)
          break;
      }
      Argument argument{ArgumentKind::positional, lexer_.at, nullptr, nullptr};
      if (accept(Token::star)) {
        argument.kind = ArgumentKind::rest;
        argument.value = test();
      } else if (accept(Token::star_star)) {
        argument.kind = ArgumentKind::named_rest;
        argument.value = test();
      } else {
        argument.value = test();
        if (lexer_.token == Token::equal) {
          if (argument.value->kind != NodeKind::identifier || argument.value->parenthesized) {
            lexer_.fail(lexer_.position(), "keyword argument must have form name=expr");
            return function;
          }
          argument.kind = ArgumentKind::named;
          argument.name = as<Identifier>(argument.value)->symbol;
          lexer_.next();
          argument.value = test();
        }
      }
      arguments_.push_back(argument);
    }
    expect(Token::right_paren);
    return make<CallNode>(NodeKind::call, at, function, take(arguments_, mark));
  }

  Identifier* identifier() {
    if (lexer_.token != Token::identifier) {
      lexer_.fail(lexer_.position(), "not an identifier");
      return nullptr;
    }
    auto* id = make<Identifier>(NodeKind::identifier, lexer_.at, lexer_.symbol);
    lexer_.next();
    return id;
  }

  Node* primary() {
    const uint32_t at = lexer_.at;
    Node* node = nullptr;
    switch (lexer_.token) {
      case Token::identifier:
        node = make<Identifier>(NodeKind::identifier, at, lexer_.symbol);
        lexer_.next();
        return node;
      case Token::integer:
        node = make<IntegerNode>(NodeKind::integer, at, lexer_.integer, lexer_.large, lexer_.radix,
                                 lexer_.text);
        lexer_.next();
        return node;
      case Token::real:
        node = make<RealNode>(NodeKind::real, at, lexer_.real);
        lexer_.next();
        return node;
      case Token::string:
      case Token::bytes:
        node = make<TextNode>(lexer_.token == Token::string ? NodeKind::string : NodeKind::bytes,
                              at, lexer_.text);
        lexer_.next();
        return node;
      case Token::left_bracket:
        return bracketed();
      case Token::left_brace:
        return braced();
      case Token::left_paren:
        return parenthesized();
      case Token::plus:
      case Token::minus:
      case Token::tilde: {
        const Level level(*this);
        const Token op = lexer_.token;
        lexer_.next();
        if (!level.ok)
          return nothing();
        Node* operand = primary_with_suffix();
        return make<UnaryNode>(NodeKind::unary, at, op, operand);
      }
      default:
        lexer_.fail(as_of_2023_ ? lexer_.position() : lexer_.at,
                    cat("got ", current(), ", want primary expression"));
        return nothing();
    }
  }

  Node* parenthesized() {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    if (!level.ok)
      return nothing();
    if (accept(Token::right_paren)) {
      Node* empty = make<SequenceNode>(NodeKind::tuple, at);
      empty->parenthesized = true;
      return empty;
    }
    Node* inside = expression_list(true);
    expect(Token::right_paren);
    inside->parenthesized = true;
    return inside;
  }

  Node* bracketed() {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    if (!level.ok)
      return nothing();
    if (accept(Token::right_bracket))
      return make<SequenceNode>(NodeKind::list, at);
    Node* first = test();
    if (lexer_.token == Token::kw_for)
      return comprehension(at, nullptr, first, Token::right_bracket);
    const size_t mark = nodes_.size();
    nodes_.push_back(first);
    while (accept(Token::comma)) {
      if (!starts_expression(lexer_.token))
        break;
      nodes_.push_back(test());
    }
    expect(Token::right_bracket);
    return make<SequenceNode>(NodeKind::list, at, take(nodes_, mark));
  }

  Node* braced() {
    const Level level(*this);
    const uint32_t at = lexer_.at;
    lexer_.next();
    if (!level.ok)
      return nothing();
    const size_t mark = nodes_.size();
    const size_t colon_mark = colons_.size();
    while (lexer_.token != Token::right_brace && !lexer_.failed) {
      Node* key = test();
      colons_.push_back(expect(Token::colon));
      Node* value = test();
      if (lexer_.token == Token::kw_for && nodes_.size() == mark) {
        colons_.resize(colon_mark);
        return comprehension(at, key, value, Token::right_brace);
      }
      nodes_.push_back(key);
      nodes_.push_back(value);
      if (!accept(Token::comma))
        break;
    }
    expect(Token::right_brace);
    const std::span<uint32_t> colons = take(colons_, colon_mark);
    return make<DictNode>(NodeKind::dict, at, take(nodes_, mark), colons);
  }

  Node* comprehension(uint32_t at, Node* key, Node* body, Token closing) {
    std::vector<Clause> clauses;
    while (lexer_.token != closing && !lexer_.failed) {
      const uint32_t clause_at = lexer_.at;
      if (accept(Token::kw_for)) {
        const size_t mark = bound_.size();
        Node* target = loop_variables();
        bind_target(target);
        std::vector<Symbol*> bound;
        for (size_t i = mark; i < bound_.size(); ++i)
          bound.push_back(bound_[i]->symbol);
        bound_.resize(mark);
        expect(Token::kw_in);
        // The operand cannot be an unparenthesized tuple or a bare conditional.
        Node* value = operation(1);
        clauses.push_back(
            {true, clause_at, target, value, arena_.copy(std::span<Symbol* const>(bound))});
      } else if (accept(Token::kw_if)) {
        clauses.push_back({false, clause_at, nullptr, test_no_conditional(), {}});
      } else {
        unexpected(cat(to_string(closing), ", for, or if"));
        break;
      }
    }
    expect(closing);
    return make<ComprehensionNode>(NodeKind::comprehension, at, key != nullptr, key, body,
                                   arena_.copy(std::span<const Clause>(clauses)));
  }

  Node* nothing() { return make<Node>(NodeKind::pass_statement, lexer_.at); }

  template <typename T, typename... Fields>
  T* make(NodeKind kind, uint32_t at, Fields&&... fields) {
    if constexpr (std::is_same_v<T, Node>)
      return arena_.make<Node>(kind, false, false, at);
    else
      return arena_.make<T>(Node{kind, false, false, at}, std::forward<Fields>(fields)...);
  }

  Lexer lexer_;
  Arena& arena_;
  Symbols& symbols_;
  bool as_of_2023_;
  int depth_ = 0;
  // Stacks of parts of nodes that are not complete yet.
  std::vector<Node*> nodes_;
  std::vector<Node*> statements_;
  std::vector<Identifier*> bound_;
  std::vector<ParameterNode> parameters_;
  std::vector<Argument> arguments_;
  std::vector<Branch> branches_;
  std::vector<uint32_t> colons_;
};

}  // namespace

ParsedFile parse_file(std::string_view source, Arena& arena, Symbols& symbols,
                      LexerOptions options) {
  Parser parser(source, arena, symbols, options);
  return parser.file();
}

ParsedFile parse_expression(std::string_view source, Arena& arena, Symbols& symbols,
                            LexerOptions options) {
  Parser parser(source, arena, symbols, options);
  return parser.expression_only();
}

}  // namespace fettle::starlark
