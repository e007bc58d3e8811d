#pragma once
/// One line of the result: tokens, and the comments behind them. A line that is too long is split
/// into others (split.h), which hold the same tokens; what a token knows of its line (`depth`,
/// `opening`) is of the line that it was put on last.

#include <string>
#include <unordered_map>
#include <vector>

#include "starlark/format/parts.h"

namespace fettle::starlark::layout {

/// Where a line may be split; a line is split at its highest priority. Those of operations are
/// between `comparison` and `dot`.
namespace priority {
constexpr int clause = 20, comma = 18, conditional = 16, logical = 14, comparison = 10, dot = 1;
}  // namespace priority

/// Follows the brackets of a line while it grows, and notes where it can be split.
class Brackets {
 public:
  struct Delimiter {
    Part* after = nullptr;  ///< the last token before the split
    int priority = 0;
  };

  void mark(Part& token);
  bool any_open() const { return !open_.empty(); }
  int depth() const { return depth_; }
  /// The square bracket that the next token stands in directly; or null.
  Part* open_square() const;
  const std::vector<Delimiter>& delimiters() const { return delimiters_; }
  /// 0 if there is none.
  int highest(const Part* except = nullptr) const;
  int count(int priority) const;
  const std::vector<Part*>& invisible() const { return invisible_; }

 private:
  struct Open {
    int depth = 0;
    Part* token = nullptr;
  };
  void close(Part& token);
  void note(Part* after, int priority);

  int depth_ = 0;
  std::vector<Open> open_;
  std::vector<Delimiter> delimiters_;
  std::vector<Part*> invisible_;
  std::vector<int> for_depths_, lambda_depths_;
  Part* previous_ = nullptr;
};

class Line {
 public:
  explicit Line(int depth_ = 0, bool inside_brackets_ = false)
      : depth(depth_), inside_brackets(inside_brackets_) {}

  /// Spaces before the token are computed, unless it has them already. Brackets are followed for
  /// new tokens, inside brackets, and if `track` says so.
  void append(Part* token, bool has_spaces = false, bool track = false);
  /// False: the token cannot be on this line, because one of them is a comment of its own.
  bool append_if_possible(Part* token);
  const std::vector<Part*>& comments_after(const Part* token) const;
  /// All of them, in their order.
  std::vector<Part*> comments() const;
  bool has_comments() const { return !comments_.empty(); }
  bool is_empty() const { return parts.empty() && comments_.empty(); }

  bool is_comment() const { return parts.size() == 1 && parts[0]->kind == Kind::own_comment; }
  bool is_definition() const { return !parts.empty() && parts[0]->is_word("def"); }
  bool opens_block() const { return !parts.empty() && parts.back()->kind == Kind::colon; }
  bool has_own_comments() const;
  /// In no brackets.
  bool has_bare_own_comments() const;
  bool has_multiline_strings() const;
  /// Whether the bracket that closes last has a comma before it, as somebody wrote it to have each
  /// item on a line of its own.
  bool has_magic_comma(const Part& closing) const;

  /// Without a line end.
  std::string text() const;
  /// The length of a token with its spaces and comments.
  int length_of_part(const Part& token) const;

  int depth;
  bool inside_brackets;
  bool must_split = false;      ///< at its delimiters, if it can be
  Part* magic_comma = nullptr;  ///< the bracket behind it
  std::vector<Part*> parts;
  Brackets brackets;

 private:
  bool append_comment(Part& comment);
  bool is_complex_subscript(const Part& token);

  struct Comments {
    Part* after = nullptr;
    std::vector<Part*> list;
  };
  std::vector<Comments> comments_;
  std::unordered_map<const Part*, size_t> comment_index_;
  std::unordered_map<const Part*, bool> complex_;
};

/// Whether a line needs no split. One with a text that spans lines does.
bool is_short_enough(const Line& line, const std::string& text, int limit);
bool is_short_enough(const Line& line);

/// Between brackets is at most one item with a comma. `from` is the closing bracket's place.
bool is_one_item(const Part& closing, const std::vector<Part*>& parts, size_t end, Kind opening);

}  // namespace fettle::starlark::layout
