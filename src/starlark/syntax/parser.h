#pragma once
/// One pass over the tokens builds the tree: recursive descent for statements (statements.cc),
/// precedence climbing for operators (operators.cc), and primaries for the operands (primaries.cc).
/// Chains of operators and suffixes are loops, so only real nesting needs native stack, and that is
/// limited.

#include <optional>

#include "starlark/syntax/ast.h"

namespace fettle::starlark {

constexpr int deepest_source = 1'000;

struct ParsedFile {
  FunctionNode* file = nullptr;
  std::optional<SyntaxError> error;
  std::optional<uint32_t> zero_byte{};  ///< where one ended the file: the rest was not read
};

ParsedFile parse_file(std::string_view source, Arena& arena, Symbols& symbols,
                      LexerOptions options);
/// The text must be one expression. The tree is a function without parameters that returns it.
ParsedFile parse_expression(std::string_view source, Arena& arena, Symbols& symbols,
                            LexerOptions options);

/// Reads one text once.
class Parser {
 public:
  Parser(std::string_view source, Arena& arena, Symbols& symbols, LexerOptions options)
      : lexer_(source, arena, symbols, options),
        arena_(arena),
        symbols_(symbols),
        as_of_2023_(options.as_of_2023),
        most_bytes_(options.most_bytes) {}

  ParsedFile file();
  ParsedFile expression_only();

 private:
  ParsedFile result(FunctionNode* function);

  template <typename T>
  std::span<T> take(std::vector<T>& stack, size_t mark) {
    const std::span<T> items = arena_.copy(std::span<const T>(stack).subspan(mark));
    stack.resize(mark);
    return items;
  }

  std::string current() const;
  void unexpected(std::string_view wanted);
  bool accept(Token token) {
    if (lexer_.token != token)
      return false;
    lexer_.next();
    return true;
  }
  uint32_t expect(Token token);

  /// Counts nesting. False: it is too deep.
  struct Level {
    Parser& parser;
    bool ok;
    explicit Level(Parser& parser_) : parser(parser_), ok(++parser_.depth_ <= deepest_source) {
      if (!ok)
        parser.lexer_.fail(parser.lexer_.at, "source is nested too deeply");
    }
    ~Level() { --parser.depth_; }
  };

  /// Looks at the memory that the tree takes. False: it is too much.
  bool may_grow() {
    if (arena_.bytes() <= most_bytes_) [[likely]]
      return true;
    lexer_.fail(lexer_.at, "source needs more memory than the limit of this evaluation");
    return false;
  }

  // Statements.

  void statement();
  void simple_statements();
  Node* small_statement();
  static Token plain_operator(Token assigning);

  /// Notes the names that a target binds. The resolver reports what cannot be one.
  void bind_target(Node* target);
  void definition();
  std::span<ParameterNode> parameters(Token closing);
  std::span<Node*> suite();
  void if_statement();
  void for_statement();
  void while_statement();

  /// The targets of a `for`: primary expressions, separated by commas.
  Node* loop_variables();
  Node* load_statement();

  Symbol* symbol(std::string_view text) { return symbols_.find(text); }

  // Expressions.

  /// `a, b` makes a tuple. A trailing comma is allowed only inside parentheses.
  Node* expression_list(bool in_parens);
  static bool starts_expression(Token token);
  Node* test();

  /// Like `test`, but without a conditional at the top: for the expression behind `if` in a
  /// comprehension.
  Node* test_no_conditional();
  Node* lambda(bool conditional);
  Node* operation(int least);
  Node* more_operators(Node* left, int least);

  /// Joins `not in` to one token. False: there was an error.
  bool not_in();
  static std::string bare(Token op);
  Node* primary_with_suffix();
  Node* index_or_slice(Node* object);
  Node* call(Node* function);
  Identifier* identifier();
  Node* primary();
  Node* parenthesized();
  Node* bracketed();
  Node* braced();
  Node* comprehension(uint32_t at, Node* key, uint32_t colon, Node* body, Token closing);

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
  uint64_t most_bytes_;
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

}  // namespace fettle::starlark
