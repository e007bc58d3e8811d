#include "template/jinja/lexer.h"

#include <array>

#include "base/text.h"

namespace fettle::jinja {
namespace {

using Kind = Token::Kind;

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
}
bool is_name_part(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

class Scanner {
 public:
  Scanner(std::string text, const Spacing& spacing) : text_(std::move(text)), spacing_(spacing) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size())
      if (Status status = data(); !status)
        return status.error();
    tokens_.push_back({Kind::end, "", line_});
    return std::move(tokens_);
  }

 private:
  Error fail(std::string message, int line) const {
    Error error = user_error(cat("jinja2.exceptions.TemplateSyntaxError: ", message));
    error.where.line = line;
    return error;
  }

  bool is_at(std::string_view word) const {
    return std::string_view(text_).substr(at_).starts_with(word);
  }

  void move_to(size_t to) {
    for (; at_ < to; ++at_)
      if (text_[at_] == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80) {
        ++column_;
      }
  }

  /// Text up to the next tag, and that tag.
  Status data() {
    size_t open = at_;
    while ((open = text_.find('{', open)) != std::string::npos &&
           (open + 1 >= text_.size() ||
            std::string_view("{%#").find(text_[open + 1]) == std::string_view::npos))
      ++open;
    open = std::min(open, text_.size());
    const char kind = open < text_.size() ? text_[open + 1] : 0;
    const char sign = open + 2 < text_.size() && (text_[open + 2] == '-' || text_[open + 2] == '+')
                          ? text_[open + 2]
                          : 0;
    std::string_view piece = std::string_view(text_).substr(at_, open - at_);
    const size_t start = at_;
    if (kind != 0 && sign == '-')
      piece = piece.substr(0, piece.find_last_not_of(" \t\r\n\v\f") + 1);
    else if (kind != 0 && kind != '{' && sign == 0 && spacing_.strips_blocks)
      piece = without_indent(piece, start);
    if (!piece.empty())
      tokens_.push_back({Kind::data, std::string(piece), line_, column_});
    move_to(open);
    if (kind == 0)
      return {};
    const bool takes_sign = sign == '-' || (sign == '+' && kind != '{');
    const int column = column_;
    move_to(open + (takes_sign ? 3 : 2));
    if (kind == '#')
      return comment();
    if (kind == '%')
      if (const size_t end = end_of_raw_tag(); end != 0)
        return raw(end);
    return tag(kind == '{', column);
  }

  /// Blanks at the end go when nothing else stands before the tag on its line.
  std::string_view without_indent(std::string_view piece, size_t start) const {
    const size_t newline = piece.rfind('\n');
    const size_t from = newline == piece.npos ? 0 : newline + 1;
    const bool is_line_start = newline != piece.npos || start == 0 || text_[start - 1] == '\n';
    const bool is_blank_line = piece.find_first_not_of(" \t\r\v\f", from) == piece.npos;
    return is_line_start && is_blank_line ? piece.substr(0, from) : piece;
  }

  /// Handles the text behind the end of a tag: `-` eats blanks, a trimmed block one newline.
  void after_tag(char sign, bool is_block) {
    if (sign == '-') {
      size_t end = at_;
      while (end < text_.size() && is_blank(text_[end]))
        ++end;
      move_to(end);
    } else if (is_block && sign != '+' && spacing_.trims_blocks && at_ < text_.size() &&
               text_[at_] == '\n') {
      move_to(at_ + 1);
    }
  }

  Status comment() {
    const size_t end = text_.find("#}", at_);
    if (end == std::string::npos)
      return fail("Missing end of comment tag", line_);
    const char sign =
        end > at_ && (text_[end - 1] == '-' || text_[end - 1] == '+') ? text_[end - 1] : 0;
    move_to(end + 2);
    after_tag(sign, true);
    return {};
  }

  /// The end of `raw %}`, if this tag is one; else 0.
  size_t end_of_raw_tag() {
    size_t at = at_;
    const auto blanks = [&] {
      while (at < text_.size() && is_blank(text_[at]))
        ++at;
    };
    blanks();
    if (!std::string_view(text_).substr(at).starts_with("raw"))
      return 0;
    at += 3;
    blanks();
    raw_sign_ = at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
    at += raw_sign_ != 0;
    return std::string_view(text_).substr(at).starts_with("%}") ? at + 2 : 0;
  }

  Status raw(size_t begin) {
    const int line = line_;
    move_to(begin);
    after_tag(raw_sign_, true);
    for (size_t open = at_; (open = text_.find("{%", open)) != std::string::npos; ++open) {
      size_t at = open + 2;
      const char sign =
          at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
      at += sign != 0;
      while (at < text_.size() && is_blank(text_[at]))
        ++at;
      if (!std::string_view(text_).substr(at).starts_with("endraw"))
        continue;
      at += 6;
      while (at < text_.size() && is_blank(text_[at]))
        ++at;
      const char end_sign =
          at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
      at += end_sign != 0;
      if (!std::string_view(text_).substr(at).starts_with("%}"))
        continue;
      std::string_view piece = std::string_view(text_).substr(at_, open - at_);
      if (sign == '-')
        piece = piece.substr(0, piece.find_last_not_of(" \t\r\n\v\f") + 1);
      else if (sign == 0 && spacing_.strips_blocks)
        piece = without_indent(piece, at_);
      if (!piece.empty())
        tokens_.push_back({Kind::data, std::string(piece), line_, column_});
      move_to(at + 2);
      after_tag(end_sign, true);
      return {};
    }
    return fail("Missing end of raw directive", line);
  }

  Status tag(bool is_variable, int column) {
    tokens_.push_back({is_variable ? Kind::variable_begin : Kind::block_begin, "", line_, column});
    const std::string_view close = is_variable ? "}}" : "%}";
    std::vector<char> open;
    for (;;) {
      size_t next = at_;
      while (next < text_.size() && is_blank(text_[next]))
        ++next;
      move_to(next);
      if (at_ >= text_.size())
        return {};
      const char sign = text_[at_] == '-' || text_[at_] == '+' ? text_[at_] : '\0';
      const bool has_sign = sign == '-' || (sign == '+' && !is_variable);
      if (open.empty() &&
          std::string_view(text_).substr(at_ + (has_sign ? 1 : 0)).starts_with(close)) {
        tokens_.push_back({is_variable ? Kind::variable_end : Kind::block_end, "", line_});
        move_to(at_ + close.size() + (has_sign ? 1 : 0));
        after_tag(has_sign ? sign : '\0', !is_variable);
        return {};
      }
      if (Status status = token(open); !status)
        return status;
    }
  }

  Status token(std::vector<char>& open) {
    const char c = text_[at_];
    if (is_name_start(c)) {
      size_t end = at_;
      while (end < text_.size() && is_name_part(text_[end]))
        ++end;
      tokens_.push_back({Kind::name, text_.substr(at_, end - at_), line_, column_});
      move_to(end);
      return {};
    }
    if (is_digit(c))
      return number();
    if (c == '"' || c == '\'')
      return string(c);
    return sign(open);
  }

  Status number() {
    const size_t start = at_;
    size_t end = at_;
    const auto digits = [&](auto is_good) {
      while (end < text_.size() &&
             (is_good(text_[end]) ||
              (text_[end] == '_' && end + 1 < text_.size() && is_good(text_[end + 1]))))
        ++end;
    };
    const char base = text_[start] == '0' && start + 2 < text_.size()
                          ? static_cast<char>(std::tolower(text_[start + 1]))
                          : '\0';
    if (base == 'x' || base == 'o' || base == 'b') {
      end += 2;
      digits([&](char c) {
        return base == 'x'   ? std::isxdigit(static_cast<unsigned char>(c)) != 0
               : base == 'o' ? c >= '0' && c <= '7'
                             : c == '0' || c == '1';
      });
      return push_number(Kind::integer, start, end);
    }
    digits(is_digit);
    bool is_real = false;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      is_real = true;
      ++end;
      digits(is_digit);
    }
    size_t exponent = end;
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-'))
        ++end;
      const size_t first = end;
      digits(is_digit);
      is_real |= end > first;
      end = end > first ? end : exponent;
    }
    return push_number(is_real ? Kind::real : Kind::integer, start, end);
  }

  Status push_number(Kind kind, size_t start, size_t end) {
    tokens_.push_back({kind, replace_all(text_.substr(start, end - start), "_", ""), line_});
    move_to(end);
    return {};
  }

  Status string(char quote) {
    const int line = line_;
    std::string made;
    size_t at = at_ + 1;
    for (; at < text_.size() && text_[at] != quote; ++at) {
      if (text_[at] != '\\') {
        made.push_back(text_[at]);
        continue;
      }
      if (++at >= text_.size())
        break;
      if (Status status = escape(at, made); !status)
        return status;
    }
    if (at >= text_.size())
      return fail(cat("unexpected char ", quote == '"' ? "'\"'" : "\"'\"", " at ", at_), line);
    tokens_.push_back({Kind::text, std::move(made), line});
    move_to(at + 1);
    return {};
  }

  Status escape(size_t& at, std::string& made) {
    const char c = text_[at];
    constexpr std::string_view from = "\\'\"abfnrtv\n";
    constexpr std::string_view to = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t found = from.find(c); found != from.npos) {
      if (c != '\n')
        made.push_back(to[found]);
      return {};
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
      uint32_t point = 0;
      for (size_t i = 1; i <= digits; ++i) {
        const char digit = at + i < text_.size() ? text_[at + i] : '\0';
        if (!std::isxdigit(static_cast<unsigned char>(digit)))
          return fail("truncated escape in a string", line_);
        point = point * 16 +
                static_cast<uint32_t>(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
      }
      append_utf8(made, std::min<uint32_t>(point, 0x10FFFF));
      at += digits;
    } else if (c >= '0' && c <= '7') {
      uint32_t point = 0;
      size_t end = at;
      while (end < text_.size() && end < at + 3 && text_[end] >= '0' && text_[end] <= '7')
        point = point * 8 + static_cast<uint32_t>(text_[end++] - '0');
      append_utf8(made, point);
      at = end - 1;
    } else {
      made.append({'\\', c});
    }
    return {};
  }

  Status sign(std::vector<char>& open) {
    constexpr std::array<std::string_view, 7> two{"//", "**", "==", "!=", "<=", ">=", "~"};
    constexpr std::string_view one = "+-/*%~[](){}=<>.:|,;";
    for (const std::string_view op : two)
      if (is_at(op)) {
        tokens_.push_back({Kind::op, std::string(op), line_});
        move_to(at_ + op.size());
        return {};
      }
    const char c = text_[at_];
    if (one.find(c) == one.npos)
      return fail(cat("unexpected char '", std::string(1, c), "' at ", at_), line_);
    if (c == '(' || c == '[' || c == '{')
      open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty())
        return fail(cat("unexpected '", std::string(1, c), "'"), line_);
      if (open.back() != c)
        return fail(cat("unexpected '", std::string(1, c), "', expected '",
                        std::string(1, open.back()), "'"),
                    line_);
      open.pop_back();
    }
    tokens_.push_back({Kind::op, std::string(1, c), line_});
    move_to(at_ + 1);
    return {};
  }

  std::string text_;
  const Spacing& spacing_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  char raw_sign_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> scan(std::string_view source, const Spacing& spacing) {
  std::string text = replace_all(replace_all(source, "\r\n", "\n"), "\r", "\n");
  if (!spacing.keeps_last_newline && text.ends_with('\n'))
    text.pop_back();
  return Scanner(std::move(text), spacing).run();
}

}  // namespace fettle::jinja
