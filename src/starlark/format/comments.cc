#include "starlark/format/comments.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace fettle::starlark::layout {
namespace {

constexpr std::string_view hard_space = "\xC2\xA0";

Wish exact_wish_of(std::string_view comment) {
  using enum Wish;
  constexpr std::array<std::pair<std::string_view, Wish>, 8> words = {{{"# fmt: off", off},
                                                                       {"# fmt:off", off},
                                                                       {"# yapf: disable", off},
                                                                       {"# fmt: on", on},
                                                                       {"# fmt:on", on},
                                                                       {"# yapf: enable", on},
                                                                       {"# fmt: skip", skip},
                                                                       {"# fmt:skip", skip}}};
  const auto* const row = std::ranges::find(words, comment, &decltype(words)::value_type::first);
  return row == words.end() ? none : row->second;
}

bool names_a_type(std::string_view content) {
  const size_t at = content.find_first_not_of(" \t");
  return at != content.npos && content.substr(at).starts_with("type:");
}

/// One space behind the `#`.
std::string plain_comment(std::string_view written) {
  const std::string_view whole = written.substr(0, written.find_last_not_of(" \t\r\v\f") + 1);
  std::string content(whole.substr(1));
  if (content.starts_with(hard_space) &&
      !names_a_type(std::string_view(content).substr(hard_space.size())))
    content.replace(0, hard_space.size(), " ");
  constexpr std::string_view kept = " !:#'";
  if (!content.empty() && kept.find(content[0]) == kept.npos)
    content.insert(0, 1, ' ');
  return cat("#", content);
}

}  // namespace

Wish wish_of(std::string_view comment) {
  if (const Wish wish = exact_wish_of(comment); wish != Wish::none)
    return wish;
  if (comment.find("fmt:") == comment.npos && comment.find("yapf:") == comment.npos)
    return Wish::none;
  // One of several comments: `# noqa # fmt: skip`, or of a list: `# noqa; fmt: skip`.
  for (size_t at = comment.find("# "); at != comment.npos;) {
    const size_t next = comment.find("# ", at + 2);
    const std::string_view content =
        comment.substr(at + 2, next == comment.npos ? next : next - at - 2);
    if (const Wish wish = exact_wish_of(cat("# ", trim(content))); wish != Wish::none)
      return wish;
    at = next;
  }
  const size_t begin = comment.find_first_not_of("# "), end = comment.find_last_not_of("# ");
  if (begin == comment.npos)
    return Wish::none;
  for (const std::string_view item : split(comment.substr(begin, end - begin + 1), ';'))
    if (const Wish wish = exact_wish_of(cat("# ", trim(item))); wish != Wish::none)
      return wish;
  return Wish::none;
}

std::vector<Comment> comments_of(std::string_view before, bool at_end_of_file) {
  std::vector<Comment> comments;
  if (before.find('#') == before.npos)
    return comments;
  int newlines = 0;
  size_t lines = 0, joined = 0;
  for (size_t at = 0; at <= before.size(); ++lines) {
    const size_t end = std::min(before.find('\n', at), before.size());
    const size_t first = std::min(before.find_first_not_of(" \t\r\v\f", at), end);
    const std::string_view line = before.substr(first, end - first);
    if (line.empty()) {
      ++newlines;
    } else if (line.starts_with('#')) {
      comments.push_back({lines != joined || at_end_of_file, newlines, plain_comment(line), first,
                          std::min(end + 1, before.size())});
      newlines = 0;
    } else if (line.ends_with('\\')) {
      ++joined;
    }
    at = end + 1;
  }
  return comments;
}

std::vector<Part*> take_comments(Parts& parts, Part& token) {
  std::vector<Part*> taken;
  size_t end = 0;
  for (Comment& comment : comments_of(token.before, token.kind == Kind::end)) {
    Part* const part = parts.token(comment.is_own ? Kind::own_comment : Kind::comment,
                                   parts.keep(std::move(comment.text)));
    part->newlines = comment.newlines;
    taken.push_back(part);
    end = comment.end;
  }
  const std::string_view rest = token.before.substr(end);
  const std::string_view before_comments = token.before.substr(0, token.before.find('#'));
  token.newlines = before_comments.find('\\') == before_comments.npos
                       ? static_cast<int>(std::ranges::count(rest, '\n'))
                       : 0;
  token.before = {};
  return taken;
}

}  // namespace fettle::starlark::layout
