#include "template/go/lexer.h"

#include "base/text.h"

namespace fettle::go_template {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Lexer {
 public:
  Lexer(const std::string& name, std::string_view source) : name_(name), source_(source) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      const size_t left = source_.find("{{", at_);
      std::string_view text = source_.substr(at_, left == source_.npos ? source_.npos : left - at_);
      if (trim_next_)
        text = trimmed_left(text);
      trim_next_ = false;
      const bool trims = left != source_.npos && left + 3 < source_.size() &&
                         source_[left + 2] == '-' && is_space(source_[left + 3]);
      if (trims)
        text = trimmed_right(text);
      if (!text.empty())
        put(Token::text, std::string(text));
      if (left == source_.npos)
        break;
      at_ = left + 2 + (trims ? 1u : 0u);
      TRY(action(left));
    }
    at_ = source_.size();
    put(Token::end, "");
    return std::move(tokens_);
  }

 private:
  static std::string_view trimmed_left(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  }
  static std::string_view trimmed_right(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  }

  /// Lines are counted forward only, so a long template is not read again for each token.
  Place place(size_t offset) {
    for (; counted_ < offset; ++counted_)
      if (source_[counted_] == '\n') {
        ++line_;
        line_begin_ = counted_ + 1;
      }
    return {line_, static_cast<int>(offset - std::min(offset, line_begin_)) + 1};
  }

  void put(Token::Type type, std::string value, size_t offset = std::string_view::npos) {
    const size_t where = offset == std::string_view::npos ? at_ : offset;
    tokens_.push_back({type, std::move(value), place(where), where});
  }

  Error fail(std::string message, size_t offset) {
    return error_at(name_, place(offset), std::move(message));
  }

  Error bad_character(size_t at) {
    std::array<char, 16> code{};
    std::snprintf(code.data(), code.size(), "U+%04X", static_cast<unsigned char>(source_[at]));
    return fail(cat("bad character ", code.data(), " '", source_.substr(at, 1), "'"), at);
  }

  /// Whether a name may end here: before white space, or before a character that can follow it.
  bool ends_a_word(size_t at) const {
    return at >= source_.size() || is_space(source_[at]) || source_.substr(at).starts_with("}}") ||
           std::string_view(".,|:)(").find(source_[at]) != std::string_view::npos;
  }

  /// Reads from behind `{{` to behind `}}`.
  Status action(size_t left) {
    std::string_view rest = source_.substr(at_);
    // White space before a comment is only that of a trim marker.
    const std::string_view bare = source_[at_ - 1] == '-' ? trimmed_left(rest) : rest;
    if (bare.starts_with("/*")) {
      const size_t begin = source_.size() - bare.size(), end = source_.find("*/", begin);
      if (end == source_.npos)
        return fail("unclosed comment", left);
      at_ = end + 2;
      rest = source_.substr(at_);
      const std::string_view behind = trimmed_left(rest);
      if (behind.starts_with("-}}") && behind.size() < rest.size()) {
        trim_next_ = true;
        at_ = source_.size() - behind.size() + 3;
      } else if (rest.starts_with("}}")) {
        at_ += 2;
      } else {
        return fail("comment ends before closing delimiter", at_);
      }
      return {};
    }
    put(Token::left, "{{", left);
    while (true) {
      if (at_ >= source_.size())
        return fail("unclosed action", left);
      rest = source_.substr(at_);
      if (rest.starts_with("}}")) {
        put(Token::right, "}}");
        at_ += 2;
        return {};
      }
      if (is_space(rest[0])) {
        const std::string_view behind = trimmed_left(rest);
        const size_t spaces = rest.size() - behind.size();
        if (behind.starts_with("-}}")) {
          at_ += spaces;
          put(Token::right, "}}");
          at_ += 3;
          trim_next_ = true;
          return {};
        }
        put(Token::space, " ");
        at_ += spaces;
        continue;
      }
      TRY(token(rest));
    }
  }

  Status token(std::string_view rest) {
    const size_t begin = at_;
    const char c = rest[0];
    const auto single = [&](Token::Type type, size_t size) {
      put(type, std::string(rest.substr(0, size)));
      at_ += size;
    };
    if (c == '"' || c == '\'' || c == '`')
      return quoted(c);
    if (c == '.' && (rest.size() < 2 || !is_digit(rest[1]))) {
      const size_t size = word(rest, 1);
      single(size == 1 ? Token::dot : Token::field, size);
      if (size > 1 && !ends_a_word(at_))
        return bad_character(at_);
    } else if (c == '$') {
      single(Token::variable, word(rest, 1));
      if (!ends_a_word(at_) && source_[at_] != '=')
        return bad_character(at_);
    } else if (is_digit(c) || c == '.' ||
               ((c == '-' || c == '+') && rest.size() > 1 &&
                (is_digit(rest[1]) || rest[1] == '.'))) {
      size_t size = 1;
      while (size < rest.size() &&
             (is_letter(rest[size]) || is_digit(rest[size]) || rest[size] == '.' ||
              ((rest[size] == '-' || rest[size] == '+') &&
               (rest[size - 1] == 'e' || rest[size - 1] == 'E'))))
        ++size;
      if (size < rest.size() && (rest[size] == '-' || rest[size] == '+'))
        return fail(cat("bad number syntax: \"", rest.substr(0, size + 1), "\""), begin);
      single(Token::number, size);
    } else if (is_letter(c)) {
      const size_t size = word(rest, 0);
      const std::string_view name = rest.substr(0, size);
      single(name == "true" || name == "false" ? Token::boolean
             : name == "nil"                   ? Token::nil
                                               : Token::identifier,
             size);
      if (!ends_a_word(at_))
        return bad_character(at_);
    } else if (rest.starts_with(":=")) {
      single(Token::declare, 2);
    } else if (c == '=') {
      single(Token::assign, 1);
    } else if (c == '|' || c == ',' || c == '(' || c == ')') {
      single(c == '|'   ? Token::pipe
             : c == ',' ? Token::comma
             : c == '(' ? Token::open
                        : Token::close,
             1);
    } else if (c > ' ' && c < 0x7F) {
      single(Token::other, 1);
    } else {
      return bad_character(begin);
    }
    return {};
  }

  static size_t word(std::string_view rest, size_t from) {
    while (from < rest.size() && (is_letter(rest[from]) || is_digit(rest[from])))
      ++from;
    return from;
  }

  Status quoted(char quote) {
    const size_t begin = at_++;
    std::string contents;
    while (true) {
      if (at_ >= source_.size() || (quote != '`' && source_[at_] == '\n'))
        return fail(quote == '\''  ? "unterminated character constant"
                    : quote == '`' ? "unterminated raw quoted string"
                                   : "unterminated quoted string",
                    begin);
      const char c = source_[at_++];
      if (c == quote)
        break;
      if (c != '\\' || quote == '`') {
        contents.push_back(c);
        continue;
      }
      TRY(escape(contents, begin));
    }
    put(quote == '\'' ? Token::character : Token::string, std::move(contents), begin);
    return {};
  }

  Status escape(std::string& contents, size_t begin) {
    if (at_ >= source_.size())
      return fail("unterminated quoted string", begin);
    const char c = source_[at_++];
    constexpr std::string_view letters = "abfnrtv\\'\"", meanings = "\a\b\f\n\r\t\v\\'\"";
    if (const size_t plain = letters.find(c); plain != letters.npos) {
      contents.push_back(meanings[plain]);
      return {};
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : c >= '0' && c <= '7' ? 3 : 0;
    const size_t from = digits == 3 ? at_ - 1 : at_;
    const unsigned base = digits == 3 ? 8 : 16;
    uint32_t code = 0;
    if (digits == 0 || from + digits > source_.size())
      return fail("invalid syntax", begin);
    for (size_t i = from; i < from + digits; ++i) {
      const size_t value =
          std::string_view("0123456789abcdef").find(lower_case(source_.substr(i, 1)));
      if (value >= base)
        return fail("invalid syntax", begin);
      code = code * base + static_cast<uint32_t>(value);
    }
    at_ = from + digits;
    if (digits > 3)
      append_utf8(contents, code);
    else
      contents.push_back(static_cast<char>(code));
    return {};
  }

  const std::string& name_;
  std::string_view source_;
  size_t at_ = 0, counted_ = 0, line_begin_ = 0;
  int line_ = 1;
  bool trim_next_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

Error error_at(const std::string& name, Place place, std::string message) {
  return user_error(cat("template: ", name, ":", place.line, ": ", message),
                    {name, place.line, place.column});
}

Result<std::vector<Token>> lex(const std::string& name, std::string_view source) {
  return Lexer(name, source).run();
}

}  // namespace fettle::go_template
