#include "starlark/format/split.h"

#include <algorithm>
#include <optional>

#include "starlark/format/brackets_split.h"
#include "starlark/format/literals.h"
#include "starlark/format/omit.h"

namespace fettle::starlark::layout {
namespace {

using Lines = std::optional<std::vector<Line>>;

/// Parentheses that a statement may get: as the rules say, or always, for a second opinion.
enum class Parentheses : uint8_t { by_rules, taken };

std::vector<Line> split_line(Line line, const SplitRules& rules, Parentheses parentheses);

/// Grows lines, and begins another when a token cannot be on this one.
class LineRow {
 public:
  explicit LineRow(const Line& whole) : whole_(whole) { begin(); }

  void append(Part* token) {
    if (current_.append_if_possible(token))
      return;
    end();
    current_.append(token);
  }
  void append_comments(const Part* token) {
    for (Part* const comment : whole_.comments_after(token))
      append(comment);
  }
  void end() {
    if (!current_.is_empty()) {
      if (!current_.parts.empty())
        current_.parts[0]->spaces = 0;
      lines_.push_back(std::move(current_));
    }
    begin();
  }
  Line& current() { return current_; }
  std::vector<Line> take() {
    end();
    return std::move(lines_);
  }

 private:
  void begin() { current_ = Line(whole_.depth, whole_.inside_brackets); }

  const Line& whole_;
  Line current_;
  std::vector<Line> lines_;
};

bool allows_comma_behind(const Part& token, const SplitRules& rules) {
  if (!is_rest_star(&token))
    return true;
  if (token.parent->kind == Kind::parameter_list)
    return rules.comma_after_rest_in_definition;
  if (token.parent->kind == Kind::arguments || token.parent->kind == Kind::argument)
    return rules.comma_after_rest_in_call;
  return true;
}

/// The commas at the ends of items.
class LastComma {
 public:
  LastComma(const Line& whole, int priority, const SplitRules& rules)
      : rules_(rules), takes_comma_(priority == priority::comma && !is_index(whole)) {}

  void see(const Part& token) {
    lowest_ = std::min(lowest_, token.depth);
    if (is_safe_ && token.depth == lowest_)
      is_safe_ = allows_comma_behind(token, rules_);
  }
  void add(Line& line) const {
    if (!is_safe_ || !takes_comma_ || line.parts.empty())
      return;
    const Kind last = line.parts.back()->kind;
    if (last != Kind::comma && last != Kind::own_comment)
      line.append(rules_.parts.token(Kind::comma, ","));
  }

 private:
  /// Python would take a comma at the end of `a[b, c]`; Starlark does not.
  static bool is_index(const Line& whole) {
    return std::ranges::any_of(whole.brackets.delimiters(), [](const Brackets::Delimiter& one) {
      return one.after->parent != nullptr && one.after->parent->kind == Kind::subscripts;
    });
  }

  const SplitRules& rules_;
  bool takes_comma_;
  bool is_safe_ = true;
  int lowest_ = 1 << 30;
};

/// At all delimiters of the highest priority.
Lines split_at_delimiters(const Line& line, const SplitRules& rules) {
  if (line.parts.empty())
    return std::nullopt;
  const int priority = line.brackets.highest(line.parts.back());
  if (priority == 0)
    return std::nullopt;
  // One attribute is not torn from what it belongs to.
  if (priority == priority::dot && line.brackets.count(priority) == 1)
    return std::nullopt;
  LineRow row(line);
  LastComma last_comma(line, priority, rules);
  auto delimiter = line.brackets.delimiters().begin();
  const auto end = line.brackets.delimiters().end();
  for (Part* const token : line.parts) {
    row.append(token);
    row.append_comments(token);
    last_comma.see(*token);
    if (delimiter != end && delimiter->after == token && (delimiter++)->priority == priority)
      row.end();
  }
  if (!row.current().is_empty())
    last_comma.add(row.current());
  return row.take();
}

/// At comments on lines of their own.
Lines split_at_comments(const Line& line) {
  if (!line.has_bare_own_comments())
    return std::nullopt;
  LineRow row(line);
  for (Part* const token : line.parts) {
    row.append(token);
    row.append_comments(token);
  }
  return row.take();
}

/// What is left when nothing else helps: a comment that stayed on a line would swallow what is
/// behind it.
std::vector<Line> tear_off_comments(const Line& line) {
  std::vector<Line> lines;
  Line current(line.depth, line.inside_brackets);
  for (Part* const token : line.parts) {
    if (!current.parts.empty() && (token->kind == Kind::own_comment || current.is_comment()) &&
        !(current.is_comment() && token->kind == Kind::colon)) {
      lines.push_back(std::move(current));
      current = Line(line.depth, line.inside_brackets);
    }
    current.append(token, true);
    for (Part* const comment : line.comments_after(token))
      current.append(comment, true);
  }
  if (!current.is_empty())
    lines.push_back(std::move(current));
  return lines;
}

bool is_optional(const BracketSplit& split) {
  return split.opening->kind == Kind::open_paren && split.opening->text.empty() &&
         split.closing->text.empty();
}

/// A split as it is, or one at other brackets if its parentheses are optional and do not help.
Lines settle(BracketSplit split, const Line& line, const SplitRules& rules, Parentheses parentheses,
             const Omission& omitted) {
  if (parentheses == Parentheses::by_rules && is_optional(split) && can_omit_parentheses(split)) {
    Omission more = omitted;
    more.push_back(split.closing);
    if (std::optional<BracketSplit> without = split_at_last_brackets(line, more, rules.parts))
      if (Lines lines = settle(std::move(*without), line, rules, parentheses, more))
        return lines;
    if (!can_be_split(split.body) && !is_short_enough(split.body))
      return std::nullopt;
    if (split.head.has_multiline_strings() || split.tail.has_multiline_strings())
      return std::nullopt;
  }
  make_visible(split.opening);
  make_visible(split.closing);
  std::vector<Line> lines;
  for (Line* const piece : {&split.head, &split.body, &split.tail})
    if (!piece->is_empty())
      lines.push_back(std::move(*piece));
  return lines;
}

Lines split_by_brackets(const Line& line, const SplitRules& rules, Parentheses parentheses,
                        const Omission& omitted) {
  std::optional<BracketSplit> split = split_at_last_brackets(line, omitted, rules.parts);
  if (!split)
    return std::nullopt;
  return settle(std::move(*split), line, rules, parentheses, omitted);
}

/// At brackets from the end on, until the first line fits.
Lines split_from_the_end(const Line& line, const SplitRules& rules, Parentheses parentheses) {
  Lines chosen;
  bool has_failed = false;
  for_each_omission(line, [&](const Omission& omitted) {
    Lines lines = split_by_brackets(line, rules, parentheses, omitted);
    has_failed = !lines;
    if (lines && is_short_enough((*lines)[0]))
      chosen = std::move(lines);
    return has_failed || chosen;
  });
  if (has_failed || chosen)
    return chosen;
  return split_by_brackets(line, rules, parentheses, {});
}

enum class Method : uint8_t { first_brackets, delimiters, comments, last_brackets };

/// A copy whose tokens stand in the tree in the place of the old ones.
Line copy_of(const Line& line, Parts& parts) {
  Line copy(line.depth, line.inside_brackets);
  copy.must_split = line.must_split;
  copy.magic_comma = line.magic_comma;
  for (Part* const token : line.parts) {
    Part* const fresh = parts.copy_of(*token);
    fresh->rank = token->rank;
    replace(token, fresh);
    copy.append(fresh);
    for (Part* const comment : line.comments_after(token))
      copy.append(comment, true);
  }
  return copy;
}

bool wants_second_opinion(const Line& line, const Line& first, Parentheses parentheses) {
  const std::vector<Part*>& optional = line.brackets.invisible();
  if (parentheses == Parentheses::taken || optional.empty() ||
      std::ranges::any_of(optional, [](Part* part) { return !part->text.empty(); }))
    return false;
  if (line.has_multiline_strings() || is_short_enough(first))
    return false;
  return std::ranges::none_of(line.parts, [](Part* part) { return part->parent == nullptr; });
}

/// Splits by one method, and what comes of that by all of them. Nothing if the method does not
/// help.
Lines split_by(Method method, const Line& line, const std::string& text, const SplitRules& rules,
               Parentheses parentheses) {
  Lines pieces;
  switch (method) {
    case Method::first_brackets:
      pieces = split_at_first_brackets(line, rules.parts);
      break;
    case Method::delimiters:
      pieces = split_at_delimiters(line, rules);
      break;
    case Method::comments:
      pieces = split_at_comments(line);
      break;
    case Method::last_brackets:
      pieces = split_from_the_end(line, rules, parentheses);
      break;
  }
  if (!pieces)
    return std::nullopt;
  std::vector<Line> lines;
  for (Line& piece : *pieces) {
    if (piece.text() == text)
      return std::nullopt;
    for (Line& part : split_line(std::move(piece), rules, parentheses))
      lines.push_back(std::move(part));
  }
  if (method != Method::last_brackets || lines.empty() ||
      !wants_second_opinion(line, lines[0], parentheses))
    return lines;
  const Line copy = copy_of(line, rules.parts);
  Lines second = split_by(method, copy, text, rules, Parentheses::taken);
  if (!second)
    return std::nullopt;
  const auto fits = [](const Line& one) { return is_short_enough(one); };
  return std::ranges::all_of(*second, fits) ? std::move(second) : std::move(lines);
}

std::vector<Method> methods_for(const Line& line, const std::string& text) {
  if (!line.must_split && line.magic_comma == nullptr && is_short_enough(line, text, line_length) &&
      !(line.inside_brackets && line.has_own_comments()))
    return {};
  if (line.is_definition())
    return {Method::first_brackets};
  if (line.inside_brackets)
    return {Method::delimiters, Method::comments, Method::last_brackets};
  return {Method::last_brackets};
}

std::vector<Line> split_line(Line line, const SplitRules& rules, Parentheses parentheses) {
  std::vector<Line> result;
  if (!line.is_comment()) {
    const std::string text = line.text();
    for (const Method method : methods_for(line, text))
      if (Lines lines = split_by(method, line, text, rules, parentheses))
        return std::move(*lines);
    if (line.has_own_comments())
      return tear_off_comments(line);
  }
  result.push_back(std::move(line));
  return result;
}

}  // namespace

std::vector<Line> split_line(Line line, const SplitRules& rules) {
  return split_line(std::move(line), rules, Parentheses::by_rules);
}

}  // namespace fettle::starlark::layout
