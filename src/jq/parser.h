#pragma once
/// Parses the text of a jq program into a tree with resolved names, in one pass. The grammar is
/// that of gojq 0.12.19.

#include <functional>
#include <map>
#include <optional>

#include "base/result.h"
#include "jq/lexer.h"
#include "jq/program.h"

namespace fettle::jq {

/// Functions by name and number of parameters.
using Functions = std::map<std::pair<std::string, size_t>, const Function*, std::less<>>;

class Parser {
 public:
  Parser(std::string_view source, Program& program, const Functions& known);

  /// Parses a whole program. Errors (`Blame::user`) have a column, and no file.
  Status program();
  /// Parses definitions only. Each may use those before it, and becomes known.
  Status definitions(Functions& known);

 private:
  /// The meaning of a name. A label is called `*out`, a variable `$x`.
  struct Binding {
    std::string name;
    size_t arity = 0;
    uint32_t slot = 0;
    const Function* function = nullptr;  ///< else a slot
  };
  /// The names in a function or an argument, which has an activation of its own.
  struct Scope {
    Function* function;
    std::vector<Binding> bindings;
  };
  struct Found {
    const Binding* binding = nullptr;
    uint32_t hops = 0;
  };
  struct Pattern;
  struct PatternPart;
  struct Suffix;
  /// Ends the names that are bound in it.
  class Block;

  // parser.cc: tokens and scopes
  bool is_symbol(std::string_view text) const;
  bool is_name(std::string_view text) const;
  void advance();
  bool take(std::string_view symbol);
  bool take_word(std::string_view keyword);
  bool expect(std::string_view symbol);
  bool expect_word(std::string_view keyword);
  /// `at`: the wrong token; without it, the present place.
  const Node* fail(std::string why, const Token* at = nullptr);
  const Node* unexpected();
  bool has_failed() const { return failure_.has_value(); }
  Found find(std::string_view name, size_t arity) const;
  uint32_t declare(std::string name);
  Node& make(Op op);
  const Node* pair(Op op, const Node* a, const Node* b);
  const Node* constant(Json value);
  const Node* native(std::string_view name, std::vector<const Node*> parts);
  const Node* variable(uint32_t slot);
  const Node* body_of(const std::function<const Node*()>& parse);

  // parser.cc: queries
  const Node* query();
  const Node* expression(int least = 0);
  const Node* operation(std::string_view symbol, const Node* left, const Node* right);
  const Node* update(std::string_view symbol, const Node* left, const Node* right);
  const Node* binding(const Node* source);
  const Node* labelled();
  const Node* definition_and_rest();
  Function* definition();

  // parser_terms.cc
  const Node* term();
  const Node* bare_term();
  const Node* suffixed(const Node* node, bool is_dot);
  Suffix field(Json key);
  Suffix bracket();
  Suffix slice(const Node* start, const Node* end);
  const Node* applied(const Suffix& suffix, const Node* to);
  const Node* parenthesis();
  const Node* number();
  const Node* sign(std::string_view symbol);
  const Node* string(std::string_view format = "tostring");
  const Node* format();
  const Node* list();
  const Node* object();
  const Node* object_value();
  void object_member(Node& made);
  const Node* condition();
  const Node* attempt();
  const Node* loop(Op op);
  const Node* leave();
  const Node* word();
  const Node* call(const std::string& name, std::vector<const Node*> arguments,
                   const Token* at = nullptr);
  const Node* special(const std::string& name, const std::vector<const Node*>& arguments);
  const Node* named_variable(const Token& token);

  // parser_patterns.cc
  std::unique_ptr<Pattern> pattern(std::vector<uint32_t>& slots);
  const Node* part_of(const PatternPart& part, bool is_list, uint32_t from);
  void member_pattern(Pattern& made, std::vector<uint32_t>& slots);
  uint32_t declare_in(const std::string& name, std::vector<uint32_t>& slots);
  const Node* lowered(const Pattern& pattern, uint32_t from, const Node* body);
  uint32_t slot_for(const Pattern& pattern);

  std::string_view source_;
  Lexer lexer_;
  Token token_;
  Program& program_;
  const Functions& known_;
  std::vector<Scope> scopes_;
  struct Constant {
    Json value;
    bool is_number = false;  ///< without a sign
  };
  std::map<const Node*, Constant> keys_;  ///< what a term begins with that is no computation
  std::map<const Node*, Json> indices_;   ///< the path of a term that is one of constants
  std::optional<Error> failure_;
  int depth_ = 0;
  bool is_program_ = false;  ///< else the definitions that programs know
};

}  // namespace fettle::jq
