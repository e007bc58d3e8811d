#include "base/text.h"

#include <algorithm>
#include <numeric>

#include "base/printable.h"
#include "base/search.h"

namespace fettle {
namespace {

constexpr size_t longest_suggested = 64;

/// Edit distance with neighbouring swaps counted as one; gives up above `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size())
    std::swap(a, b);
  if (b.size() - a.size() > limit)
    return limit + 1;
  std::vector<size_t> before(a.size() + 1), last(a.size() + 1), row(a.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= b.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= a.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[j - 1] != b[i - 1])});
      if (i > 1 && j > 1 && a[j - 1] == b[i - 2] && a[j - 2] == b[i - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[a.size()];
}

template <typename Candidate>
std::string_view nearest_of(std::string_view word, std::span<const Candidate> candidates) {
  std::string_view best;
  if (word.size() > longest_suggested)
    return best;
  const std::string wanted = lower_case(word);
  size_t least = std::max<size_t>(1, std::min<size_t>(3, word.size() / 3)) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate == word || candidate.size() > longest_suggested)
      continue;
    const size_t found = distance(wanted, lower_case(candidate), least);
    // Texts without a common letter are not alike.
    if (found < least && found < std::max(word.size(), candidate.size())) {
      least = found;
      best = candidate;
    }
  }
  return best;
}

template <typename Candidate>
std::string suggestion_of(std::string_view word, std::span<const Candidate> candidates) {
  const std::string_view found = nearest_of(word, candidates);
  return found.empty() ? std::string() : cat(", did you mean `", found, "`?");
}

/// The length in bytes of the code point at `at`; 0 for a byte that begins none.
size_t code_point_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  size_t length = first < 0x80   ? 1
                  : first < 0xC2 ? 0
                  : first < 0xE0 ? 2
                  : first < 0xF0 ? 3
                  : first < 0xF5 ? 4
                                 : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80)
      return 0;
  if ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) > 0x9F) ||
      (first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) > 0x8F))
    return 0;
  return length;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != text.npos; end = text.find(separator, begin)) {
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

std::string join(std::span<const std::string> pieces, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < pieces.size(); ++i)
    text.append(i == 0 ? "" : between).append(pieces[i]);
  return text;
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n\v\f");
  if (begin == text.npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n\v\f") - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  size_t begin = 0;
  for (size_t at = find_text(text, from); at != text.npos && !from.empty();
       at = find_text(text, from, begin)) {
    replaced.append(text.substr(begin, at - begin)).append(to);
    begin = at + from.size();
  }
  return replaced.append(text.substr(begin));
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = code_point_length(text, at);
    if (length == 0)
      return false;
    at += length;
  }
  return true;
}

LineAndColumn end_of_utf8(std::string_view text) {
  LineAndColumn end;
  for (size_t at = 0; at < text.size();) {
    const size_t length = code_point_length(text, at);
    if (length == 0)
      return end;
    end =
        text[at] == '\n' ? LineAndColumn{end.line + 1, 1} : LineAndColumn{end.line, end.column + 1};
    at += length;
  }
  return end;
}

std::string printable(std::string_view text) { return printable_but(text, {}); }

std::string clipped(std::string_view text, size_t longest) {
  if (text.size() <= longest)
    return std::string(text);
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80)
    --longest;
  return cat(text.substr(0, longest), "…");
}

void append_utf8(std::string& text, uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    code = 0xFFFD;
  const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)),
        put(0x80 | (code & 0x3F));
  }
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  return nearest_of(word, candidates);
}
std::string_view nearest(std::string_view word, std::span<const std::string> candidates) {
  return nearest_of(word, candidates);
}
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  return suggestion_of(word, candidates);
}
std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  return suggestion_of(word, candidates);
}

std::string excerpt(std::string_view source, int line, int column) {
  size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = source.find('\n', begin);
    if (begin == source.npos)
      return {};
    ++begin;
  }
  if (line < 1 || begin > source.size())
    return {};
  std::string_view text = source.substr(begin, source.find('\n', begin) - begin);
  if (!text.empty() && text.back() == '\r')
    text.remove_suffix(1);
  size_t caret = 0;
  for (int i = 1; i < column && caret < text.size(); ++i)
    caret += std::max<size_t>(1, code_point_length(text, caret));
  constexpr size_t widest = 120;
  size_t from = caret > widest ? caret - widest / 2 : 0;
  while (from > 0 && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80)
    --from;
  size_t shown = std::min(text.size() - from, 2 * widest);
  while (from + shown < text.size() &&
         (static_cast<unsigned char>(text[from + shown]) & 0xC0) == 0x80)
    --shown;
  std::string lines = cat("  ", text.substr(from, shown), "\n  ");
  for (size_t at = from; at < caret; at += std::max<size_t>(1, code_point_length(text, at)))
    lines.push_back(text[at] == '\t' ? '\t' : ' ');
  return lines + "^";
}

}  // namespace fettle
