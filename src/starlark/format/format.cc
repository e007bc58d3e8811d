#include "starlark/format/format.h"

#include <algorithm>

#include "base/text.h"
#include "starlark/format/blank_lines.h"
#include "starlark/format/kept.h"
#include "starlark/format/read.h"
#include "starlark/format/same_tree.h"
#include "starlark/format/split.h"
#include "starlark/format/statements.h"
#include "starlark/scan.h"
#include "starlark/starlark.h"
#include "starlark/syntax/parser.h"
#include "starlark/syntax/syntax_error.h"

namespace fettle::starlark {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// How the lines of a file end: as the first does.
std::string_view line_end_of(std::string_view text) {
  const size_t line_feed = text.find('\n'), carriage = text.find('\r');
  if (carriage == text.npos || line_feed < carriage)
    return "\n";
  return line_feed == carriage + 1 ? "\r\n" : "\r";
}

std::string with_line_feeds(std::string_view text) {
  return replace_all(replace_all(text, "\r\n", "\n"), "\r", "\n");
}

Error error_at(const std::string& file, std::string_view text, const SyntaxError& problem) {
  return syntax_error(file, text, Lines(text), problem);
}

bool is_program(std::string_view text, const LexerOptions& options) {
  Arena arena;
  Symbols symbols(arena);
  return !parse_file(text, arena, symbols, options).error;
}

/// Whether some list with a star ends in a comma: in calls, and in definitions.
void find_commas_after_stars(const layout::Part* part, layout::SplitRules& rules) {
  using layout::Kind;
  const auto is_star = [](const layout::Part* one) {
    return one->kind == Kind::star || one->kind == Kind::star_star;
  };
  const bool is_definition = part->kind == Kind::parameter_list;
  if ((is_definition || part->kind == Kind::arguments) &&
      part->children.back()->kind == Kind::comma) {
    for (const layout::Part* const child : part->children) {
      if (!is_star(child) &&
          (child->kind != Kind::argument || std::ranges::none_of(child->children, is_star)))
        continue;
      rules.comma_after_rest_in_call = true;
      rules.comma_after_rest_in_definition |= is_definition;
    }
  }
  for (const layout::Part* const child : part->children)
    find_commas_after_stars(child, rules);
}

/// One pass. The error's place is in `text`.
tl::expected<std::string, SyntaxError> lay_out_once(std::string_view text,
                                                    const LexerOptions& options) {
  layout::Parts parts;
  const layout::ReadTree tree = layout::read_tree(text, parts, options);
  if (tree.error)
    return tl::unexpected(*tree.error);
  layout::SplitRules rules{parts};
  find_commas_after_stars(tree.file, rules);
  if (const std::optional<SyntaxError> problem = layout::keep_unformatted(tree.file, text, parts))
    return tl::unexpected(*problem);
  layout::BlankLines blank_lines;
  std::vector<std::string> blocks;
  layout::LineMaker(parts, [&](layout::Line line) {
    blank_lines.add(line);
    std::string block;
    for (const layout::Line& piece : layout::split_line(std::move(line), rules))
      block += cat(piece.text(), "\n");
    blocks.push_back(std::move(block));
  }).visit(tree.file);
  std::string result;
  for (size_t i = 0; i < blocks.size(); ++i)
    result += std::string(size_t(blank_lines.before()[i]), '\n') + blocks[i];
  return result;
}

/// Passes until nothing changes. The first may write commas that the second obeys.
Result<std::string> lay_out(const std::string& file, const std::string& text,
                            const LexerOptions& options) {
  constexpr int most_passes = 8;
  std::string current = text;
  for (int pass = 0; pass < most_passes; ++pass) {
    auto next = lay_out_once(current, options);
    if (!next && pass == 0)
      return error_at(file, text, next.error());
    // Long values get parentheses, which are a level, too.
    if (!next && is_program(current, options))
      return user_error(
          cat("with the parentheses that its layout adds, the file is ", next.error().message),
          {file});
    if (!next)
      return Error(Blame::bug, "its layout cannot be read again: please report this", {file});
    if (*next == current)
      return current;
    current = std::move(*next);
  }
  return Error(Blame::bug, "its layout is another each time: please report this", {file});
}

Status check_same(const std::string& file, const std::string& before, const std::string& after,
                  const LexerOptions& options) {
  Arena arena;
  Symbols symbols(arena);
  const ParsedFile old_tree = parse_file(before, arena, symbols, options);
  const ParsedFile new_tree = parse_file(after, arena, symbols, options);
  if (new_tree.error || !layout::is_same(*old_tree.file, *new_tree.file))
    return Error(Blame::bug, "its layout would say something else: please report this", {file});
  return {};
}

}  // namespace

Result<std::string> laid_out(const std::string& file, std::string_view given) {
  if (!is_valid_utf8(given)) {
    const LineAndColumn end = end_of_utf8(given);
    return user_error("the text is not valid UTF-8", {file, end.line, end.column});
  }
  const LexerOptions options = lexer_options(Dialect::of(Profile::kurtosis));
  const bool has_mark = given.starts_with(byte_order_mark);
  const std::string_view line_end = line_end_of(given);
  std::string text = with_line_feeds(given.substr(has_mark ? byte_order_mark.size() : 0));
  {
    Arena arena;
    Symbols symbols(arena);
    const ParsedFile parsed = parse_file(text, arena, symbols, options);
    if (parsed.error)
      return error_at(file, text, *parsed.error);
    if (parsed.zero_byte)
      return error_at(
          file, text,
          {*parsed.zero_byte, "a zero byte ends the file here: the rest would be lost"});
  }
  std::string result;
  if (trim(text).empty()) {
    result = text.find('\n') == text.npos ? "" : "\n";
  } else {
    // Empty lines at the begin are dropped; places in errors are those of the whole text.
    if (!text.ends_with('\n'))
      text += '\n';
    result = TRY(lay_out(file, text, options));
    TRY(check_same(file, text, result, options));
  }
  if (line_end != "\n")
    result = replace_all(result, "\n", line_end);
  return cat(has_mark ? byte_order_mark : "", result);
}

}  // namespace fettle::starlark
