#include "template/jinja/parser.h"

#include <charconv>

#include "base/text.h"
#include "template/jinja/parse_expression.h"

namespace fettle::jinja {
namespace {

using Kind = Token::Kind;
using StmtPtr = std::unique_ptr<Stmt>;

class Parser : public ExpressionParser {
 public:
  Parser(std::vector<Token> tokens, const Syntax& syntax)
      : ExpressionParser(std::move(tokens)), syntax_(syntax) {}

  Result<Body> run() {
    Body body;
    if (Status status = sub_parse(body, {}); !status)
      return status.error();
    return body;
  }

 private:
  using Ends = std::vector<std::string_view>;

  bool is_end(const Ends& ends) const {
    return current().kind == Kind::name &&
           std::find(ends.begin(), ends.end(), current().text) != ends.end();
  }

  /// Statements up to one of `ends`, which is left as the current token; without ends to the end.
  Status sub_parse(Body& body, const Ends& ends) {
    if (++depth_ > deepest)
      return fail("the template is nested too deeply", current().line);
    Status status = sub_parse_within(body, ends);
    --depth_;
    return status;
  }

  Status sub_parse_within(Body& body, const Ends& ends) {
    for (;;) {
      const Token& token = current();
      switch (token.kind) {
        case Kind::data: {
          StmtPtr node = make(Stmt::Kind::data);
          node->text = token.text;
          body.push_back(std::move(node));
          next();
          break;
        }
        case Kind::variable_begin: {
          StmtPtr node = make(Stmt::Kind::output);
          next();
          node->exprs.push_back(TRY(tuple(true)));
          if (Status status = expect(Kind::variable_end); !status)
            return status;
          body.push_back(std::move(node));
          break;
        }
        case Kind::block_begin: {
          next();
          if (is_end(ends))
            return {};
          StmtPtr node = TRY(statement());
          if (node != nullptr)
            body.push_back(std::move(node));
          if (Status status = expect(Kind::block_end); !status)
            return status;
          break;
        }
        default:
          return ends.empty() ? Status() : eof_error(ends);
      }
    }
  }

  Error eof_error(const Ends& ends) {
    std::string wanted;
    for (const std::string_view end : ends)
      wanted += cat(wanted.empty() ? "" : " or ", "'", end, "'");
    return fail(
        cat("Unexpected end of template. Jinja was looking for the following tags: ", wanted, ".",
            open_.empty()
                ? ""
                : cat(" The innermost block that needs to be closed is '", open_.back(), "'.")),
        current().line);
  }

  static Error assertion(std::string message, int line) {
    Error error = raise("jinja2.exceptions.TemplateAssertionError", std::move(message));
    error.where.line = line;
    return error;
  }

  Error unknown_tag(const std::string& name) {
    std::string message = cat("Encountered unknown tag '", name, "'.");
    if (!ends_.empty()) {
      std::string wanted;
      for (const std::string_view end : ends_.back())
        wanted += cat(wanted.empty() ? "" : " or ", "'", end, "'");
      if (std::find(all_ends_.begin(), all_ends_.end(), name) != all_ends_.end())
        message +=
            cat(" You probably made a nesting mistake. Jinja is expecting this tag, but currently "
                "looking for ",
                wanted, ".");
      else
        message += cat(" Jinja was looking for the following tags: ", wanted, ".");
      message += cat(" The innermost block that needs to be closed is '", open_.back(), "'.");
    }
    return fail(std::move(message), current().line);
  }

  /// The body of the current tag up to one of `ends`, whose name is then the current token.
  Status body_until(Body& body, Ends ends) {
    accept(":");
    if (Status status = expect(Kind::block_end); !status)
      return status;
    ends_.push_back(ends);
    all_ends_.insert(all_ends_.end(), ends.begin(), ends.end());
    Status status = sub_parse(body, ends);
    if (status) {
      all_ends_.resize(all_ends_.size() - ends.size());
      ends_.pop_back();
    }
    return status;
  }

  StmtPtr make(Stmt::Kind kind) const {
    auto made = std::make_unique<Stmt>();
    made->kind = kind;
    made->line = current().line;
    made->column = current().column;
    return made;
  }

  Result<StmtPtr> statement() {
    links_ = 0;
    if (current().kind != Kind::name)
      return fail("tag name expected", current().line);
    using Parse = Result<StmtPtr> (Parser::*)();
    static const std::unordered_map<std::string_view, Parse> statements{
        {"for", &Parser::parse_for},
        {"if", &Parser::parse_if},
        {"set", &Parser::parse_set},
        {"with", &Parser::parse_with},
        {"macro", &Parser::parse_macro},
        {"call", &Parser::parse_call},
        {"filter", &Parser::parse_filter},
        {"block", &Parser::parse_block},
        {"extends", &Parser::parse_extends},
        {"include", &Parser::parse_include},
        {"import", &Parser::parse_import},
        {"from", &Parser::parse_from},
        {"autoescape", &Parser::parse_autoescape},
        {"do", &Parser::parse_do},
        {"print", &Parser::parse_print},
        {"break", &Parser::parse_loop_control},
        {"continue", &Parser::parse_loop_control}};
    const auto found = statements.find(current().text);
    if (found == statements.end() ||
        (found->second == &Parser::parse_loop_control && !syntax_.has_loop_controls))
      return unknown_tag(current().text);
    open_.push_back(current().text);
    Result<StmtPtr> made = (this->*found->second)();
    if (made)
      open_.pop_back();
    return made;
  }

  Result<StmtPtr> parse_for() {
    StmtPtr node = make(Stmt::Kind::for_);
    next();
    node->target = TRY(target(true));
    if (!accept_name("in"))
      return fail(cat("expected token 'in', got ", described(current())), current().line);
    node->exprs.push_back(TRY(tuple(false)));
    if (accept_name("if"))
      node->filter = TRY(expression());
    node->is_recursive = accept_name("recursive");
    ++loops_;
    if (Status status = body_until(node->body, {"endfor", "else"}); !status)
      return status.error();
    --loops_;
    if (accept_name("else"))
      if (Status status = body_until(node->otherwise, {"endfor"}); !status)
        return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_if() {
    StmtPtr node = make(Stmt::Kind::if_);
    next();
    node->exprs.push_back(TRY(tuple(false)));
    if (Status status = body_until(node->body, {"elif", "else", "endif"}); !status)
      return status.error();
    if (current().text == "elif") {
      if (++depth_ > deepest)
        return fail("the template is nested too deeply", current().line);
      node->otherwise.push_back(TRY(parse_if()));
      --depth_;
      return node;
    }
    if (accept_name("else"))
      if (Status status = body_until(node->otherwise, {"endif"}); !status)
        return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_set() {
    StmtPtr node = make(Stmt::Kind::set);
    next();
    node->target = TRY(target(true));
    if (accept("=")) {
      node->exprs.push_back(TRY(tuple(true)));
      return node;
    }
    node->kind = Stmt::Kind::set_block;
    node->filter = TRY(filters(nullptr));
    if (Status status = body_until(node->body, {"endset"}); !status)
      return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_with() {
    StmtPtr node = make(Stmt::Kind::with);
    next();
    while (current().kind != Kind::block_end) {
      if (!node->names.empty())
        if (Status status = expect(","); !status)
          return status.error();
      ExprPtr name = TRY(target(false));
      if (Status status = expect("="); !status)
        return status.error();
      node->names.push_back({name->name, TRY(expression())});
    }
    if (Status status = body_until(node->body, {"endwith"}); !status)
      return status.error();
    next();
    return node;
  }

  Status signature(MacroData& macro) {
    if (Status status = expect("("); !status)
      return status;
    while (!is_op(")")) {
      if (!macro.parameters.empty())
        if (Status status = expect(","); !status)
          return status;
      ExprPtr name = TRY(target(false));
      Parameter& parameter = macro.parameters.emplace_back(Parameter{name->name, nullptr});
      if (accept("="))
        parameter.initial = TRY(expression());
      else if (macro.parameters.size() > 1 &&
               macro.parameters[macro.parameters.size() - 2].initial != nullptr)
        return fail("non-default argument follows default argument", current().line);
    }
    return expect(")");
  }

  /// A loop around a macro or block is none inside of it.
  Status separate_body(Body& body, std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    Status status = body_until(body, {end});
    loops_ = loops;
    return status;
  }

  Status macro_body(MacroData& macro, std::string_view end) {
    uses_.push_back({});
    Status status = separate_body(macro.body, end);
    macro.uses_caller = uses_.back().contains("caller");
    macro.uses_rest = uses_.back().contains("varargs");
    macro.uses_named_rest = uses_.back().contains("kwargs");
    uses_.pop_back();
    return status;
  }

  Result<StmtPtr> parse_macro() {
    StmtPtr node = make(Stmt::Kind::macro);
    next();
    ExprPtr name = TRY(target(false));
    node->macro = std::make_shared<MacroData>();
    node->macro->name = node->text = name->name;
    node->macro->line = node->line;
    if (Status status = signature(*node->macro); !status)
      return status.error();
    if (Status status = macro_body(*node->macro, "endmacro"); !status)
      return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_call() {
    StmtPtr node = make(Stmt::Kind::call_block);
    next();
    node->macro = std::make_shared<MacroData>();
    if (is_op("("))
      if (Status status = signature(*node->macro); !status)
        return status.error();
    node->exprs.push_back(TRY(expression()));
    if (node->exprs[0]->kind != Expr::Kind::call)
      return fail("expected call", node->line);
    if (Status status = macro_body(*node->macro, "endcall"); !status)
      return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_filter() {
    StmtPtr node = make(Stmt::Kind::filter_block);
    next();
    node->filter = TRY(filters(nullptr, true));
    if (Status status = body_until(node->body, {"endfilter"}); !status)
      return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_block() {
    StmtPtr node = make(Stmt::Kind::block);
    next();
    if (current().kind != Kind::name)
      return fail(cat("expected token 'name', got ", described(current())), current().line);
    node->text = current().text;
    next();
    node->is_scoped = accept_name("scoped");
    node->is_required = accept_name("required");
    if (is_op("-"))
      return fail(
          "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, "
          "use an underscore instead.",
          current().line);
    if (!blocks_.insert(node->text).second)
      return assertion(cat("block '", node->text, "' defined twice"), node->line);
    if (Status status = separate_body(node->body, "endblock"); !status)
      return status.error();
    next();
    if (current().kind == Kind::name && current().text == node->text)
      next();
    if (node->is_required)
      for (const auto& inner : node->body)
        if (inner->kind != Stmt::Kind::data ||
            inner->text.find_first_not_of(" \t\r\n") != std::string::npos)
          return fail("Required blocks can only contain comments or whitespace", node->line);
    return node;
  }

  Result<StmtPtr> parse_extends() {
    StmtPtr node = make(Stmt::Kind::extends);
    next();
    node->exprs.push_back(TRY(expression()));
    return node;
  }

  /// `with context` or `without context`.
  bool context_is_given(bool& has_context) {
    const bool is_with = current().kind == Kind::name && current().text == "with";
    const bool is_without = current().kind == Kind::name && current().text == "without";
    if ((!is_with && !is_without) || peek().kind != Kind::name || peek().text != "context")
      return false;
    next();
    next();
    has_context = is_with;
    return true;
  }

  Result<StmtPtr> parse_include() {
    StmtPtr node = make(Stmt::Kind::include);
    next();
    node->exprs.push_back(TRY(expression()));
    if (current().kind == Kind::name && current().text == "ignore" && peek().text == "missing") {
      next();
      next();
      node->ignores_missing = true;
    }
    context_is_given(node->has_context);
    return node;
  }

  Result<StmtPtr> parse_import() {
    StmtPtr node = make(Stmt::Kind::import);
    next();
    node->exprs.push_back(TRY(expression()));
    if (!accept_name("as"))
      return fail(cat("expected token 'as', got ", described(current())), current().line);
    ExprPtr name = TRY(target(false));
    node->text = name->name;
    node->has_context = false;
    context_is_given(node->has_context);
    return node;
  }

  Result<StmtPtr> parse_from() {
    StmtPtr node = make(Stmt::Kind::from_import);
    next();
    node->exprs.push_back(TRY(expression()));
    if (!accept_name("import"))
      return fail(cat("expected token 'import', got ", described(current())), current().line);
    node->has_context = false;
    while (!context_is_given(node->has_context)) {
      if (current().kind != Kind::name) {
        if (node->names.empty())
          return fail(cat("expected token 'name', got ", described(current())), current().line);
        break;
      }
      ExprPtr name = TRY(target(false));
      if (name->name.starts_with('_'))
        return fail("names starting with an underline can not be imported", name->line);
      std::string alias = name->name;
      if (accept_name("as")) {
        ExprPtr other = TRY(target(false));
        alias = other->name;
      }
      node->names.push_back({name->name, nullptr});
      node->aliases.push_back(alias);
      if (context_is_given(node->has_context) || !accept(","))
        break;
    }
    return node;
  }

  Result<StmtPtr> parse_autoescape() {
    StmtPtr node = make(Stmt::Kind::scope);
    next();
    node->exprs.push_back(TRY(expression()));
    if (Status status = body_until(node->body, {"endautoescape"}); !status)
      return status.error();
    next();
    return node;
  }

  Result<StmtPtr> parse_do() {
    StmtPtr node = make(Stmt::Kind::do_);
    next();
    node->exprs.push_back(TRY(tuple(false)));
    return node;
  }

  Result<StmtPtr> parse_print() {
    StmtPtr node = make(Stmt::Kind::output);
    next();
    while (current().kind != Kind::block_end) {
      if (!node->exprs.empty())
        if (Status status = expect(","); !status)
          return status.error();
      node->exprs.push_back(TRY(expression()));
    }
    return node;
  }

  Result<StmtPtr> parse_loop_control() {
    const bool breaks = current().text == "break";
    StmtPtr node = make(breaks ? Stmt::Kind::break_ : Stmt::Kind::continue_);
    if (loops_ == 0) {
      Error error =
          raise("SyntaxError", breaks ? "'break' outside loop" : "'continue' not properly in loop");
      error.where.line = node->line;
      return error;
    }
    next();
    return node;
  }

  const Syntax& syntax_;
  int loops_ = 0;  ///< those that a `break` here could leave
  std::vector<std::string> open_;
  std::vector<Ends> ends_;
  std::vector<std::string_view> all_ends_;
  std::set<std::string> blocks_;
};

}  // namespace

Result<std::shared_ptr<const Tree>> parse(const std::string& name, std::string_view source,
                                          const Syntax& syntax) {
  const auto named = [&](Error error) {
    error.where.file = name;
    return error;
  };
  Result<std::vector<Token>> tokens = scan(source, syntax.spacing);
  if (!tokens)
    return named(tokens.error());
  Result<Body> body = Parser(std::move(*tokens), syntax).run();
  if (!body)
    return named(body.error());
  return std::shared_ptr<const Tree>(std::make_shared<Tree>(Tree{name, std::move(*body)}));
}

}  // namespace fettle::jinja
