#include "model/syntax/parse_expression.h"

#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "model/syntax/strings.h"
#include "model/values/numbers.h"
#include "model/values/regex.h"
#include "value/whole.h"

namespace fettle::model {
namespace {

constexpr int tightest_level = 6;  // `**`; behind it come `not` and `in`

/// The operator of a token at a level; the loosest level comes first.
std::optional<Operator> operator_at(int level, const Lexeme& token) {
  switch (level) {
    case 1:
      return token.token == Token::word_or ? std::optional(Operator::or_) : std::nullopt;
    case 2:
      return token.token == Token::word_and ? std::optional(Operator::and_) : std::nullopt;
    case 3:
      if (token.token == Token::compare)
        for (const Operator op : {Operator::equal, Operator::not_equal, Operator::less,
                                  Operator::less_equal, Operator::greater, Operator::greater_equal})
          if (spelling(op) == token.text)
            return op;
      return std::nullopt;
    case 4:
      if (token.character == '+')
        return Operator::add;
      return token.character == '-' ? std::optional(Operator::subtract) : std::nullopt;
    case 5:
      if (token.character == '*')
        return Operator::multiply;
      if (token.character == '/')
        return Operator::divide;
      return token.character == '%' ? std::optional(Operator::modulo) : std::nullopt;
    case 6:
      return token.token == Token::power ? std::optional(Operator::power) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Error ExpressionParser::fail_at(Place at, std::string message) const {
  Error error = user_error(std::move(message), where_of(file_name_, at));
  error.excerpt = excerpt(text_, static_cast<int>(at.line), static_cast<int>(at.column));
  return error;
}

/// The error has the place that the original prints: the start of a reserved word, the end of
/// anything else.
Error ExpressionParser::syntax_error() const {
  if (sees(Token::end_of_file) && error_)
    return *error_;
  Error error = syntax_error_alone();
  if (const std::string meant = meant_word(); !meant.empty())
    error.excerpt += cat("\n  did you mean `", meant, "`?");
  return error;
}

/// Among the names before the error on its line, and the one at which it stands, finds the first
/// that is nearly a reserved word. Two words side by side are no expression, so one of them may be
/// a misspelt reserved word.
std::string ExpressionParser::meant_word() const {
  const size_t last = sees(Token::end_of_file) && at_ > 0 ? at_ - 1 : at_;
  const auto ends_expression = [&](size_t at) {
    const Lexeme& one = tokens_[at];
    return one.token != Token::separator && one.token != Token::arrow &&
           one.token != Token::compare && one.token != Token::plus_assign &&
           one.token != Token::power &&
           (one.token != Token::punctuation || one.character == ')' || one.character == ']' ||
            one.character == '}' || one.character == ':' || one.character == '?');
  };
  size_t first = last;
  while (first > 0 && tokens_[first - 1].at.line == tokens_[last].at.line)
    --first;
  for (size_t at = first; at <= last; ++at) {
    if (tokens_[at].token != Token::id || (at > first && !ends_expression(at - 1)))
      continue;
    const Lexeme& behind = tokens_[std::min(at + 1, tokens_.size() - 1)];
    const bool is_alone = behind.at.line != tokens_[at].at.line ||
                          behind.token == Token::end_of_file || behind.character == ':';
    const bool is_before_word = behind.token == Token::id || behind.token == Token::cid ||
                                behind.token >= Token::word_typedef;
    if (!is_alone && !is_before_word)
      continue;
    if (const std::string_view word = nearest(tokens_[at].text, mistakable_words()); !word.empty())
      return std::string(word);
  }
  return {};
}

Error ExpressionParser::syntax_error_alone() const {
  if (sees(Token::end_of_file)) {
    const auto lines = std::ranges::count(text_, '\n');
    return fail(cat("Syntax error: Unexpected end of file (", file_name_, ":", lines + 2, ":2)"));
  }
  if (now().token >= Token::word_typedef)
    return fail(cat("Syntax error: invalid identifier, ", now().text, " is a reserved keyword (",
                    exactly(now().at), ")"));
  size_t width = sees(Token::string) ? 2 : sees(Token::raw_string) || sees(Token::f_string) ? 3 : 0;
  for (const char c : now().text)
    width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  const Place end = moved(now().at, width);
  return fail(cat("Syntax error at token ", now().text, " (", exactly(end), ")"));
}

std::string ExpressionParser::exactly(Place at) const {
  return cat(file_name_, ":", at.line, ":", static_cast<uint32_t>(at.column));
}

Status ExpressionParser::expect(Token token) {
  if (!sees(token))
    return syntax_error();
  ++at_;
  return {};
}
Status ExpressionParser::expect(char character) {
  if (!sees(character)) {
    Error error = syntax_error();
    if (character == ':' && at_ > 0 && !sees(Token::end_of_file) && meant_word().empty())
      error.excerpt += cat("\n  is a `:` missing ",
                           tokens_[at_ - 1].at.line < now().at.line
                               ? cat("at the end of line ", tokens_[at_ - 1].at.line)
                               : cat("before `", now().text, "`"),
                           "?");
    return error;
  }
  ++at_;
  return {};
}

Status ExpressionParser::refuse_hyphen(Symbol name, Place at) const {
  if (symbols_.name(name).find('-') == std::string::npos)
    return {};
  return fail_at(
      at, cat("The use of '-' in identifiers is not allowed. please rename ", symbols_.name(name),
              ". (reported in ", symbols_.name(name), " (", exactly(at), "))"));
}

/// If what follows a reserved word makes no sense, the word itself is the error.
Error ExpressionParser::error_behind_word() {
  if (at_ > 0 && now().token < Token::word_typedef && !sees(Token::end_of_file) &&
      tokens_[at_ - 1].token >= Token::word_typedef && tokens_[at_ - 1].token != Token::word_true &&
      tokens_[at_ - 1].token != Token::word_false)
    --at_;
  return syntax_error();
}

Result<Symbol> ExpressionParser::identifier(bool allows_hyphen) {
  if (!sees(Token::id))
    return error_behind_word();
  const Symbol name = symbols_.intern(now().text);
  if (!allows_hyphen)
    TRY(refuse_hyphen(name, now().at));
  ++at_;
  return name;
}

Result<QualifiedName> ExpressionParser::namespace_reference() {
  const Place at = now().at;
  std::string space;
  while (true) {
    if (!sees(Token::id))
      return error_behind_word();
    const std::string_view name = now().text;
    ++at_;
    if (!sees(Token::separator))
      return QualifiedName{arena_.copy(std::string_view(space)), symbols_.intern(name), at};
    ++at_;
    if (!space.empty())
      space += "::";
    space += name;
  }
}

Result<const Expr*> ExpressionParser::expression() {
  const Deeper deeper(depth_);
  if (depth_ > max_depth)
    return fail("Syntax error: the model is nested too deeply");
  const Expr* condition = TRY(binary(1));
  if (!sees('?'))
    return condition;
  ++at_;
  const Expr* yes = TRY(expression());
  TRY(expect(':'));
  const Expr* no = TRY(expression());
  return arena_.make<Conditional>(Expr{ExprKind::conditional, condition->at}, condition, yes, no);
}

Result<const Expr*> ExpressionParser::binary(int level) {
  if (level > tightest_level)
    return membership();
  const Expr* left = TRY(binary(level + 1));
  int length = 0;
  while (const std::optional<Operator> op = operator_at(level, now())) {
    if (++length + depth_ > max_depth)
      return fail("Syntax error: the model is nested too deeply");
    const Place at = left->at;
    ++at_;
    const Expr* right = TRY(binary(level + 1));
    left = arena_.make<Binary>(Expr{ExprKind::binary, at}, *op, left, right);
  }
  return left;
}

/// Parses `not` and, tighter, `in`.
Result<const Expr*> ExpressionParser::membership() {
  const Deeper deeper(depth_);
  if (depth_ > max_depth)
    return fail("Syntax error: the model is nested too deeply");
  const Place at = now().at;
  if (sees(Token::word_not)) {
    ++at_;
    const Expr* negated = TRY(membership());
    return arena_.make<Negation>(Expr{ExprKind::negation, at}, negated);
  }
  const Expr* left = TRY(operand());
  for (int length = 0; true; ++length) {
    const bool is_negated = sees(Token::word_not) && next().token == Token::word_in;
    if (!is_negated && sees(Token::word_not))
      return syntax_error();
    if (!is_negated && !sees(Token::word_in))
      return left;
    if (length + depth_ > max_depth)
      return fail("Syntax error: the model is nested too deeply");
    at_ += is_negated ? 2 : 1;
    const Expr* right = sees(Token::word_not) ? TRY(membership()) : TRY(operand());
    left = arena_.make<Binary>(Expr{ExprKind::binary, at},
                               is_negated ? Operator::not_in : Operator::in, left, right);
  }
}

Result<const Expr*> ExpressionParser::operand() {
  const Lexeme& token = now();
  switch (token.token) {
    case Token::integer:
    case Token::floating:
      return number();
    case Token::string:
    case Token::raw_string:
    case Token::f_string:
    case Token::long_string:
      return text();
    case Token::word_true:
    case Token::word_false:
      ++at_;
      return constant(Datum::of(token.token == Token::word_true), token.at);
    case Token::word_null:
      ++at_;
      return constant(Datum::null(), token.at);
    case Token::regex:
      ++at_;
      return regex(token);
    case Token::id:
    case Token::cid:
      return reference();
    case Token::punctuation:
      break;
    default:
      return syntax_error();
  }
  if (token.character == '(') {
    ++at_;
    const Expr* inner = TRY(expression());
    TRY(expect(')'));
    return inner;
  }
  if (token.character == '[')
    return list();
  if (token.character == '{')
    return dict();
  return syntax_error();
}

Result<const Expr*> ExpressionParser::regex(const Lexeme& token) {
  if (const Status good = check_regex(token.text); !good) {
    const Place at = moved(token.at, std::string_view("matching ").size());
    return fail_at(token.at, cat("Syntax error: Regex error in /", token.text, "/: '",
                                 good.error().message, "' (", exactly(at), ")"));
  }
  return arena_.make<Regex>(Expr{ExprKind::regex, token.at}, token.text);
}

const Expr* ExpressionParser::constant(Datum value, Place at) {
  return arena_.make<Constant>(Expr{ExprKind::constant, at}, value);
}

Result<const Expr*> ExpressionParser::number() {
  const Lexeme token = now();
  ++at_;
  if (token.token == Token::integer) {
    if (token.text.size() > whole::most_digits)
      return fail_at(token.at, cat("Exceeds the limit (", whole::most_digits,
                                   " digits) for integer string conversion: value has ",
                                   token.text.size(), " digits"));
    return constant(whole_of(arena_, token.text), token.at);
  }
  const double value = std::strtod(std::string(token.text).c_str(), nullptr);
  return constant(Datum::of(value), token.at);
}

Result<const Expr*> ExpressionParser::text() {
  const Lexeme token = now();
  ++at_;
  const auto text_of_source = [&](std::string_view content) {
    return arena_.make<Text>(arena_.copy(content));
  };
  if (token.token == Token::raw_string)
    return constant(Datum::of(static_cast<const Text*>(text_of_source(token.text))), token.at);
  const Result<std::string> unescaped = unescape(token.text, token.at, warn_);
  if (!unescaped)
    return fail_at(token.at, unescaped.error().message);
  const Text* content = text_of_source(*unescaped);
  if (token.token == Token::f_string) {
    auto format = read_f_string(content->view, token.at, arena_, symbols_);
    if (!format)
      return fail_at(token.at, format.error().message.starts_with("Syntax error")
                                   ? cat(format.error().message, " (", exactly(token.at), ")")
                                   : cat(format.error().message, " (reported in '", token.text,
                                         "' (", exactly(token.at), "))"));
    return *format;
  }
  const bool is_long = token.token == Token::long_string;
  Place at = token.at;
  at.is_exact = is_long;
  const auto format =
      read_interpolation(content->view, at, moved(token.at, is_long ? 3 : 1), arena_, symbols_);
  if (!format)
    return fail_at(token.at, format.error().message);
  if (*format != nullptr)
    return *format;
  return constant(Datum::of(content), token.at);
}

/// Parses what begins with a name: a variable, a path, a call, a constructor or a lookup.
Result<const Expr*> ExpressionParser::reference() {
  const Place at = now().at;
  std::string space;
  while (sees(Token::id) && next().token == Token::separator) {
    if (!space.empty())
      space += "::";
    space += now().text;
    at_ += 2;
  }
  if (!sees(Token::id) && !sees(Token::cid))
    return syntax_error();
  const bool is_class = sees(Token::cid);
  const QualifiedName name{arena_.copy(std::string_view(space)), symbols_.intern(now().text), at};
  ++at_;
  if (!is_class) {
    if (sees('('))
      return call(name);
    return path(arena_.make<Name>(Expr{ExprKind::name, at}, name));
  }
  if (sees('('))
    return constructor(name);
  if (!sees('['))
    return syntax_error();
  ++at_;
  const std::span<const Argument> keys = TRY(arguments(']', false));
  return arena_.make<IndexLookup>(Expr{ExprKind::index_lookup, at}, name, keys);
}

Result<const Expr*> ExpressionParser::list() {
  const Place at = now().at;
  ++at_;
  std::vector<const Expr*> items;
  while (!sees(']')) {
    items.push_back(TRY(expression()));
    if (items.size() == 1 && sees(Token::word_for))
      return comprehension(at, items[0]);
    if (!sees(','))
      break;
    ++at_;
  }
  TRY(expect(']'));
  return arena_.make<ListExpr>(Expr{ExprKind::list, at}, keep(items));
}

Result<const Expr*> ExpressionParser::comprehension(Place at, const Expr* value) {
  std::vector<std::pair<Symbol, const Expr*>> clauses;
  std::vector<const Expr*> guards;
  while (sees(Token::word_for)) {
    ++at_;
    const Symbol variable = TRY(identifier(true));
    TRY(expect(Token::word_in));
    clauses.emplace_back(variable, TRY(expression()));
    if (static_cast<int>(clauses.size()) + depth_ > max_depth)
      return fail("Syntax error: the model is nested too deeply");
  }
  while (sees(Token::word_if)) {
    ++at_;
    guards.push_back(TRY(expression()));
    if (static_cast<int>(clauses.size() + guards.size()) + depth_ > max_depth)
      return fail("Syntax error: the model is nested too deeply");
  }
  TRY(expect(']'));
  const Expr* guard = nullptr;
  for (const Expr* one : guards | std::views::reverse)
    guard = guard == nullptr
                ? one
                : arena_.make<Binary>(Expr{ExprKind::binary, one->at}, Operator::and_, one, guard);
  for (const auto& [variable, iterable] : clauses | std::views::reverse)
    value = arena_.make<Comprehension>(Expr{ExprKind::comprehension, at}, value, variable, iterable,
                                       std::exchange(guard, nullptr));
  return value;
}

Result<const Expr*> ExpressionParser::dict() {
  const Place at = now().at;
  ++at_;
  std::vector<DictItem> items;
  std::unordered_map<std::string_view, Place> known;
  while (!sees('}')) {
    DictItem item;
    item.at = now().at;
    if (sees(Token::f_string) || sees(Token::long_string))
      return syntax_error();
    if (!sees(Token::string) && !sees(Token::raw_string))
      return syntax_error();
    const Expr* key = TRY(text());
    if (key->kind != ExprKind::constant)
      return fail_at(item.at,
                     cat("Syntax error: String interpolation is not supported in dictionary keys. "
                         "Use raw string to use a key containing double curly brackets (",
                         exactly(item.at), ")"));
    item.key = as<Constant>(key).value.text;
    if (const auto [other, is_new] = known.emplace(item.key->view, item.at); !is_new)
      return fail_at(item.at, cat("duplicate key in dict ", item.key->view, " (original at (",
                                  file_name_, ":", other->second.line, ")) (duplicate at (",
                                  file_name_, ":", item.at.line, "))"));
    TRY(expect(':'));
    item.value = TRY(expression());
    items.push_back(item);
    if (!sees(','))
      break;
    ++at_;
  }
  TRY(expect('}'));
  return arena_.make<DictExpr>(Expr{ExprKind::dict, at}, keep(items));
}

}  // namespace fettle::model
