#include "starlark/format/literals.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace fettle::starlark::layout {
namespace {

constexpr std::string_view white = " \t\n\v\f\r";

std::string_view trim_front(std::string_view text) {
  const size_t at = text.find_first_not_of(white);
  return at == text.npos ? std::string_view() : text.substr(at);
}

std::string_view trim_back(std::string_view text) {
  const size_t at = text.find_last_not_of(white);
  return at == text.npos ? std::string_view() : text.substr(0, at + 1);
}

std::string with_digits_around_point(std::string_view text) {
  const size_t point = text.find('.');
  if (point == text.npos)
    return std::string(text);
  const std::string_view front = text.substr(0, point), back = text.substr(point + 1);
  return cat(front.empty() ? "0" : front, ".", back.empty() ? "0" : back);
}

struct StringParts {
  std::string_view letters;  ///< before the quotes
  std::string_view quote;
  std::string_view body;
};

StringParts parts_of(std::string_view text) {
  const size_t at = text.find_first_of("'\"");
  const std::string_view rest = text.substr(at);
  const size_t size = rest.starts_with("\"\"\"") || rest.starts_with("'''") ? 3 : 1;
  return {text.substr(0, at), rest.substr(0, size), rest.substr(size, rest.size() - 2 * size)};
}

enum class Backslash { dropped, added };

/// Drops a backslash before each quote that has one, or adds one to each that has none. Two
/// backslashes are an escape of their own.
std::string change_escapes(std::string_view body, std::string_view quote, Backslash change) {
  std::string changed;
  changed.reserve(body.size());
  size_t backslashes = 0;
  for (size_t i = 0; i < body.size();) {
    if (body.substr(i).starts_with(quote)) {
      const bool is_escaped = backslashes % 2 == 1;
      if (is_escaped && change == Backslash::dropped)
        changed.pop_back();
      else if (!is_escaped && change == Backslash::added)
        changed += '\\';
      changed += quote;
      i += quote.size();
      backslashes = 0;
      continue;
    }
    backslashes = body[i] == '\\' ? backslashes + 1 : 0;
    changed += body[i++];
  }
  return changed;
}

bool has_bare_quote(std::string_view body, std::string_view quote) {
  return change_escapes(body, quote, Backslash::added).size() != body.size();
}

bool ends_with_bare_quote(std::string_view body) {
  if (!body.ends_with('"'))
    return false;
  body.remove_suffix(1);
  return (body.size() - (body.find_last_not_of('\\') + 1)) % 2 == 0;
}

/// Chooses the quotes.
std::string requote(std::string_view text) {
  const StringParts old = parts_of(text);
  if (old.quote == "\"\"\"")
    return std::string(text);
  const std::string_view quote = old.quote == "'''" ? "\"\"\"" : old.quote == "\"" ? "'" : "\"";
  std::string body(old.body), other;
  if (old.letters.find('r') != old.letters.npos) {
    if (has_bare_quote(body, quote))
      return std::string(text);
    other = body;
  } else {
    body = change_escapes(body, quote, Backslash::dropped);
    other = change_escapes(change_escapes(body, old.quote, Backslash::dropped), quote,
                           Backslash::added);
  }
  if (quote == "\"\"\"" && ends_with_bare_quote(other)) {
    other.pop_back();
    other += "\\\"";
  }
  const auto before = std::ranges::count(body, '\\'), after = std::ranges::count(other, '\\');
  if (after > before || (after == before && old.quote == "\""))
    return cat(old.letters, old.quote, body, old.quote);
  return cat(old.letters, quote, other, quote);
}

/// The lines of documentation, without an empty one at the end; tabs that indent them become spaces.
std::vector<std::string> lines_of(std::string_view body) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(body, '\n')) {
    const std::string_view rest = trim_front(line);
    if (rest.empty() || rest.size() == line.size()) {
      lines.emplace_back(line);
      continue;
    }
    std::string indent;
    for (const char c : line.substr(0, line.size() - rest.size())) {
      if (c == '\t')
        indent.append(8 - indent.size() % 8, ' ');
      else
        indent += c;
    }
    lines.push_back(indent + std::string(rest));
  }
  if (lines.size() > 1 && lines.back().empty())
    lines.pop_back();
  return lines;
}

/// Moves the lines behind the first to the indentation of the block.
std::string indented(std::string_view body, const std::string& indent) {
  const std::vector<std::string> lines = lines_of(body);
  size_t least = std::string::npos;
  for (size_t i = 1; i < lines.size(); ++i)
    if (const std::string_view rest = trim_front(lines[i]); !rest.empty())
      least = std::min(least, lines[i].size() - rest.size());
  std::string moved(trim(lines[0]));
  if (least == std::string::npos)
    return moved;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const std::string_view rest = trim_back(line.substr(std::min(least, line.size())));
    moved += '\n';
    if (!rest.empty() || i + 1 == lines.size())
      moved += cat(indent, rest);
  }
  return moved;
}

/// Keeps what is inside from becoming a part of the quotes.
bool pad(std::string& body, char quote) {
  if (body.front() == quote)
    body.insert(0, 1, ' ');
  if (body.back() == quote)
    body += ' ';
  const size_t backslashes = body.size() - (body.find_last_not_of('\\') + 1);
  if (backslashes % 2 == 0)
    return false;
  body += ' ';
  return true;
}

bool joins_lines(std::string_view text) {
  for (size_t at = text.find('\\'); at != text.npos; at = text.find('\\', at + 1)) {
    const size_t next = text.find_first_not_of(white, at + 1);
    const std::string_view gap = text.substr(at + 1, next == text.npos ? next : next - at - 1);
    if (gap.find('\n') != gap.npos)
      return true;
  }
  return false;
}

}  // namespace

std::string plain_number(std::string_view text) {
  std::string number = lower_case(text);
  if (number.starts_with("0x"))
    return cat("0x", upper_case(std::string_view(number).substr(2)));
  if (number.starts_with("0o") || number.starts_with("0b"))
    return number;
  const size_t e = number.find('e');
  if (e == number.npos)
    return with_digits_around_point(number);
  std::string_view exponent = std::string_view(number).substr(e + 1);
  if (exponent.starts_with('+'))
    exponent.remove_prefix(1);
  return cat(with_digits_around_point(std::string_view(number).substr(0, e)), "e", exponent);
}

std::string plain_string(std::string_view text) { return requote(text); }

std::string plain_doc_string(std::string_view text, int depth) {
  // Other indentation would change what such a text says.
  if (joins_lines(text))
    return plain_string(text);
  const std::string quoted = requote(text);
  const StringParts old = parts_of(quoted);
  const std::string indent(size_t(depth) * 4, ' ');
  // Black takes the two quotes of an empty one for the first of three.
  if (old.quote.size() == 1 && old.body.empty())
    return cat(old.letters, old.quote, old.quote, old.quote, old.quote, old.quote, old.quote);
  const bool spans_lines = old.quote.size() == 3 && old.body.find('\n') != old.body.npos;
  std::string body = spans_lines ? indented(old.body, indent) : std::string(trim(old.body));
  bool ends_in_backslash = false;
  if (!body.empty())
    ends_in_backslash = pad(body, old.quote[0]);
  else if (!old.body.empty())
    body = " ";
  if (old.quote.size() == 3 && !ends_in_backslash) {
    const size_t last = body.rfind('\n');
    const bool has_lines = last != body.npos && last + 1 < body.size();
    // The first quotes are no part of the measure.
    if (has_lines && length_of(std::string_view(body).substr(last + 1)) + 3 > line_length &&
        int(indent.size()) + 3 <= line_length)
      body += cat("\n", indent);
  }
  return requote(cat(old.letters, old.quote, body, old.quote));
}

int length_of(std::string_view text) {
  return int(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace fettle::starlark::layout
