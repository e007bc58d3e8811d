#include "starlark/format/line.h"

#include <algorithm>

#include "starlark/format/literals.h"
#include "starlark/format/spaces.h"

namespace fettle::starlark::layout {
namespace {

/// Priority of a split before a token; 0 if there is none.
int split_before(const Part& token, const Part* previous) {
  if (is_rest_star(&token))
    return 0;
  const Kind phrase = token.parent == nullptr ? Kind::end : token.parent->kind;
  switch (token.kind) {
    case Kind::dot:
      return previous == nullptr || is_closing(previous->kind) ? priority::dot : 0;
    case Kind::operation:
    case Kind::star:
      return phrase == Kind::sign || phrase == Kind::end ? 0 : token.rank;
    case Kind::comparator:
      return priority::comparison;
    case Kind::name:
      break;
    default:
      return 0;
  }
  if (token.text == "for")
    return phrase == Kind::for_clause ? priority::clause : 0;
  if (token.text == "if" && phrase == Kind::if_clause)
    return priority::clause;
  if (token.text == "if" || token.text == "else")
    return phrase == Kind::conditional ? priority::conditional : 0;
  if (token.text == "in")
    return phrase == Kind::comparison ||
                   (phrase == Kind::not_in && (previous == nullptr || !previous->is_word("not")))
               ? priority::comparison
               : 0;
  if (token.text == "not")
    return phrase == Kind::not_in ? priority::comparison : 0;
  return token.text == "and" || token.text == "or" ? priority::logical : 0;
}

int split_after(const Part& token) {
  if (token.kind != Kind::comma)
    return 0;
  const Part* const phrase = token.parent;
  return phrase != nullptr && phrase->kind == Kind::targets && phrase->parent != nullptr &&
                 (phrase->parent->kind == Kind::for_clause ||
                  phrase->parent->kind == Kind::for_statement)
             ? 0
             : priority::comma;
}

bool has_complex_part(const Part* part) {
  switch (part->kind) {
    case Kind::conditional:
    case Kind::lambda:
    case Kind::logical:
    case Kind::comparison:
    case Kind::arithmetic:
    case Kind::term:
    case Kind::trailer:
    case Kind::chain:
      return true;
    default:
      return std::ranges::any_of(part->children, has_complex_part);
  }
}

/// At most `limit`.
int count_tokens(const Part* part, int limit) {
  if (part->is_token())
    return 1;
  int count = 0;
  for (const Part* const child : part->children) {
    count += count_tokens(child, limit - count);
    if (count >= limit)
      break;
  }
  return count;
}

}  // namespace

void Brackets::mark(Part& token) {
  if (token.kind == Kind::comment || (depth_ == 0 && is_closing(token.kind) && open_.empty()))
    return;
  if (!for_depths_.empty() && for_depths_.back() == depth_ && token.is_word("in")) {
    --depth_;
    for_depths_.pop_back();
  }
  if (!lambda_depths_.empty() && lambda_depths_.back() == depth_ && token.kind == Kind::colon) {
    --depth_;
    lambda_depths_.pop_back();
  }
  if (is_closing(token.kind))
    close(token);
  token.depth = depth_;
  if (depth_ == 0) {
    if (const int before = split_before(token, previous_); before != 0 && previous_ != nullptr)
      note(previous_, before);
    else if (const int after = split_after(token); after != 0)
      note(&token, after);
  }
  if (is_opening(token.kind)) {
    open_.push_back({depth_, &token});
    ++depth_;
    if (token.text.empty())
      invisible_.push_back(&token);
  }
  previous_ = &token;
  // What is between `for` and `in`, or `lambda` and its colon, is not to be split.
  if (token.is_word("lambda"))
    lambda_depths_.push_back(++depth_);
  if (token.is_word("for"))
    for_depths_.push_back(++depth_);
}

void Brackets::close(Part& token) {
  --depth_;
  if (!open_.empty() && closing_of(open_.back().token->kind) == token.kind) {
    token.opening = open_.back().token;
    depth_ = open_.back().depth;
    open_.pop_back();
  }
  if (token.text.empty())
    invisible_.push_back(&token);
}

void Brackets::note(Part* after, int priority) {
  if (!delimiters_.empty() && delimiters_.back().after == after)
    delimiters_.back().priority = priority;
  else
    delimiters_.push_back({after, priority});
}

Part* Brackets::open_square() const {
  if (open_.empty() || open_.back().depth != depth_ - 1 ||
      open_.back().token->kind != Kind::open_bracket)
    return nullptr;
  return open_.back().token;
}

int Brackets::highest(const Part* except) const {
  int highest = 0;
  for (const Delimiter& delimiter : delimiters_)
    if (delimiter.after != except)
      highest = std::max(highest, delimiter.priority);
  return highest;
}

int Brackets::count(int priority) const {
  return int(std::ranges::count(delimiters_, priority, &Delimiter::priority));
}

void Line::append(Part* token, bool has_spaces, bool track) {
  if (!is_bracket(token->kind) && token->text.empty())
    return;
  if (!parts.empty() && !has_spaces)
    token->spaces =
        spaces_before(*token, asks_for_subscript(*token) && is_complex_subscript(*token));
  if (inside_brackets || !has_spaces || track) {
    brackets.mark(*token);
    if (has_magic_comma(*token))
      magic_comma = token;
  }
  if (!append_comment(*token))
    parts.push_back(token);
}

bool Line::append_if_possible(Part* token) {
  if (brackets.depth() == 0 &&
      (is_comment() || (!parts.empty() && token->kind == Kind::own_comment)))
    return false;
  append(token, true);
  return true;
}

bool Line::is_complex_subscript(const Part& token) {
  const Part* const bracket = brackets.open_square();
  const Part* start = bracket == nullptr ? nullptr : next_sibling(bracket);
  if (start == nullptr || start->kind == Kind::list_items)
    return false;
  if (start->kind == Kind::subscripts) {
    const Part* const all = start;
    for (start = &token; start != nullptr && start->parent != all;)
      start = start->parent;
    if (start == nullptr)
      return false;
  }
  const auto [entry, is_new] = complex_.try_emplace(start, false);
  if (is_new)
    entry->second = has_complex_part(start);
  return entry->second;
}

bool Line::has_magic_comma(const Part& closing) const {
  if (!is_closing(closing.kind) || parts.empty() || parts.back()->kind != Kind::comma)
    return false;
  if (closing.kind == Kind::close_brace)
    return true;
  if (closing.kind == Kind::close_bracket)
    return closing.parent == nullptr || closing.parent->kind != Kind::trailer ||
           !is_one_item(closing, parts, parts.size(), Kind::open_bracket);
  return closing.opening != nullptr && !is_one_item(closing, parts, parts.size(), Kind::open_paren);
}

bool Line::append_comment(Part& comment) {
  if (comment.kind == Kind::own_comment && brackets.any_open()) {
    comment.spaces = comment.newlines = 0;
    return false;
  }
  if (comment.kind != Kind::comment)
    return false;
  // A comment behind a single token in parentheses that are not there belongs to the token.
  const bool is_of_token = !parts.empty() && parts.back()->kind == Kind::close_paren &&
                           parts.back()->text.empty() && parts.back()->parent != nullptr &&
                           count_tokens(parts.back()->parent, 4) <= 3;
  if (parts.size() < (is_of_token ? 2 : 1)) {
    comment.kind = Kind::own_comment;
    comment.spaces = comment.newlines = 0;
    return false;
  }
  Part* const last = parts[parts.size() - (is_of_token ? 2 : 1)];
  const auto [entry, is_new] = comment_index_.try_emplace(last, comments_.size());
  if (is_new)
    comments_.push_back({last, {}});
  comments_[entry->second].list.push_back(&comment);
  return true;
}

const std::vector<Part*>& Line::comments_after(const Part* token) const {
  static const std::vector<Part*> none;
  if (comments_.empty())
    return none;
  const auto found = comment_index_.find(token);
  return found == comment_index_.end() ? none : comments_[found->second].list;
}

std::vector<Part*> Line::comments() const {
  std::vector<Part*> all;
  for (const Comments& some : comments_)
    all.insert(all.end(), some.list.begin(), some.list.end());
  return all;
}

bool Line::has_own_comments() const {
  return std::ranges::any_of(parts, [](Part* part) { return part->kind == Kind::own_comment; });
}

bool Line::has_bare_own_comments() const {
  return std::ranges::any_of(
      parts, [](Part* part) { return part->kind == Kind::own_comment && part->depth == 0; });
}

bool Line::has_multiline_strings() const { return std::ranges::any_of(parts, is_multiline_string); }

std::string Line::text() const {
  std::string text(size_t(depth) * 4, ' ');
  bool is_first = true;
  for (const Part* const part : parts) {
    if (!is_first)
      text.append(size_t(part->spaces), ' ');
    is_first = false;
    text += part->text;
  }
  for (const Comments& some : comments_)
    for (const Part* const comment : some.list) {
      text.append(size_t(comment->spaces), ' ');
      text += comment->text;
    }
  return text;
}

int Line::length_of_part(const Part& token) const {
  int length = token.spaces + length_of(token.text);
  for (const Part* const comment : comments_after(&token))
    length += length_of(comment->text);
  return length;
}

bool is_one_item(const Part& closing, const std::vector<Part*>& parts, size_t end, Kind opening) {
  if (closing.opening == nullptr || closing.opening->kind != opening)
    return false;
  const int depth = closing.depth + 1;
  int commas = 0;
  for (size_t i = end; i-- > 0;) {
    const Part& part = *parts[i];
    if (&part == closing.opening)
      return commas < 2;
    if (part.kind == Kind::comma && part.depth == depth)
      commas += part.parent != nullptr && (part.parent->kind == Kind::arguments ||
                                           part.parent->kind == Kind::parameter_list)
                    ? 2
                    : 1;
  }
  return false;
}

bool is_short_enough(const Line& line, const std::string& text, int limit) {
  return length_of(text) <= limit && text.find('\n') == text.npos && !line.has_own_comments();
}

bool is_short_enough(const Line& line) { return is_short_enough(line, line.text(), line_length); }

}  // namespace fettle::starlark::layout
