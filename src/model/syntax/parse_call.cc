/// Parses expressions that begin with a name: attributes, constructors, calls and lookups, with
/// their arguments.

#include <unordered_set>

#include "model/syntax/parse_expression.h"

namespace fettle::model {

bool ExpressionParser::sees_named_argument() const {
  return sees(Token::power) || (sees(Token::id) && next().character == '=');
}

std::string ExpressionParser::wrong_separator(std::string_view space, std::string_view name,
                                              Place at) const {
  return cat("Syntax error: invalid namespace access `", space, ".", name,
             "`. Namespaces should be accessed with '::' rather than '.'. The '.' separator is "
             "reserved for attribute and relation access. Did you mean: `",
             replace_all(space, ".", "::"), "::", name, "` (", exactly(at), ")");
}

/// `a.b` of a path.
std::string ExpressionParser::path_text(const Expr* path) const {
  if (path->kind == ExprKind::attribute)
    return cat(path_text(as<AttributeRef>(path).object), ".",
               symbols_.name(as<AttributeRef>(path).name));
  if (path->kind != ExprKind::name)
    return "";
  const QualifiedName& name = as<Name>(path).name;
  return name.space.empty() ? symbols_.name(name.name)
                            : cat(name.space, "::", symbols_.name(name.name));
}

/// Parses the steps behind a variable: `.a`, `[k=v]`, `["k"]`, and `is defined`.
Result<const Expr*> ExpressionParser::path(const Expr* start) {
  const Expr* made = start;
  for (int length = 0; true; ++length) {
    if (length + depth_ > max_depth)
      return fail("Syntax error: the model is nested too deeply");
    if (sees('.') && made->kind != ExprKind::map_lookup) {
      ++at_;
      const Place at = now().at;
      if (sees(Token::cid) && made->kind == ExprKind::name)
        return fail_at(start->at, wrong_separator(symbols_.name(as<Name>(made).name.name),
                                                  now().text, start->at));
      if (!sees(Token::id))
        return syntax_error();
      const Symbol name = symbols_.intern(now().text);
      ++at_;
      if (sees('(') && tokens_[at_ - 1].at.line == now().at.line)
        return fail_at(start->at, wrong_separator(path_text(made), symbols_.name(name), start->at));
      made = arena_.make<AttributeRef>(Expr{ExprKind::attribute, at}, made, name);
      continue;
    }
    if (!sees('['))
      break;
    const Place at = now().at;
    ++at_;
    if (made->kind == ExprKind::attribute && sees_named_argument()) {
      const std::span<const Argument> keys = TRY(arguments(']', false));
      return arena_.make<ShortLookup>(Expr{ExprKind::short_lookup, start->at},
                                      static_cast<const AttributeRef*>(made), keys);
    }
    const Expr* key = TRY(expression());
    TRY(expect(']'));
    made = arena_.make<MapLookup>(Expr{ExprKind::map_lookup, at}, made, key);
  }
  if (!sees(Token::word_is))
    return made;
  if (made->kind == ExprKind::name && !as<Name>(made).name.space.empty())
    return syntax_error();
  ++at_;
  if (!sees(Token::word_defined))
    return error_behind_word();
  ++at_;
  return arena_.make<IsDefined>(Expr{ExprKind::is_defined, start->at}, made);
}

Result<std::span<const Argument>> ExpressionParser::arguments(char close, bool allows_positional) {
  std::vector<Argument> found;
  while (!sees(close)) {
    Argument argument;
    argument.at = now().at;
    if (sees(Token::power)) {
      ++at_;
      argument.is_unpacked = true;
    } else if (sees_named_argument()) {
      argument.name = TRY(identifier(true));
      ++at_;
    } else if (allows_positional) {
      argument.is_positional = true;
    } else {
      return syntax_error();
    }
    argument.value = TRY(expression());
    found.push_back(argument);
    if (!sees(','))
      break;
    ++at_;
  }
  TRY(expect(close));
  return keep(found);
}

Result<const Expr*> ExpressionParser::constructor(QualifiedName type) {
  ++at_;
  const std::span<const Argument> found = TRY(arguments(')', false));
  std::unordered_set<Symbol> known;
  for (const Argument& argument : found)
    if (!argument.is_unpacked && !known.insert(argument.name).second)
      return fail_at(
          argument.at,
          cat("The attribute ", symbols_.name(argument.name), " in the constructor call of ",
              symbols_.name(type.name), " is already set. (reported in Construct(",
              symbols_.name(type.name), ") (", file_name_, ":", type.at.line, "))"));
  return arena_.make<Constructor>(Expr{ExprKind::constructor, type.at}, type, found);
}

Result<const Expr*> ExpressionParser::call(QualifiedName function) {
  ++at_;
  const std::span<const Argument> found = TRY(arguments(')', true));
  std::unordered_set<Symbol> known;
  for (const Argument& argument : found)
    if (!argument.is_unpacked && !argument.is_positional && !known.insert(argument.name).second)
      return fail_at(
          argument.at,
          cat("Keyword argument ", symbols_.name(argument.name), " repeated in function call ",
              function.space, function.space.empty() ? "" : "::", symbols_.name(function.name),
              "() (", exactly(argument.at), ")"));
  return arena_.make<Call>(Expr{ExprKind::call, function.at}, function, found);
}

}  // namespace fettle::model
