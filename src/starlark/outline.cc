#include "starlark/outline.h"

#include "base/text.h"
#include "starlark/scan.h"
#include "starlark/starlark.h"
#include "starlark/syntax/parser.h"
#include "starlark/syntax/syntax_error.h"

namespace fettle::starlark {
namespace {

std::string doc_of(const FunctionNode& function) {
  if (function.body.empty() || function.body[0]->kind != NodeKind::expression_statement)
    return {};
  Node* const value = as<ExpressionStatement>(function.body[0])->value;
  return value->kind == NodeKind::string ? std::string(as<TextNode>(value)->text) : std::string();
}

}  // namespace

Result<std::optional<FunctionOutline>> outline_of(const std::string& file, std::string_view given,
                                                  std::string_view function) {
  const std::string text = source_text(given);
  const Lines lines(text);
  const auto place = [&](uint32_t at) {
    const auto [line, column] = lines.at(at);
    return Where{file, line, column};
  };
  Arena arena;
  Symbols symbols(arena);
  const ParsedFile parsed =
      parse_file(text, arena, symbols, lexer_options(Dialect::of(Profile::kurtosis)));
  if (parsed.error)
    return syntax_error(file, text, lines, *parsed.error);
  for (Node* const statement : parsed.file->body) {
    if (statement->kind != NodeKind::def_statement ||
        as<DefNode>(statement)->function.name != function)
      continue;
    const FunctionNode& found = as<DefNode>(statement)->function;
    FunctionOutline outline;
    outline.where = place(found.at);
    outline.doc = doc_of(found);
    for (const ParameterNode& parameter : found.parameters)
      outline.parameters.push_back(
          {parameter.name == nullptr ? "*" : std::string(parameter.name->text),
           parameter.kind != ParameterKind::required && parameter.kind != ParameterKind::optional,
           place(parameter.at)});
    return std::optional(std::move(outline));
  }
  return std::optional<FunctionOutline>();
}

}  // namespace fettle::starlark
