#include "base/tail.h"

#include "base/text.h"

namespace fettle {
namespace {

/// Every byte that is no part of UTF-8 becomes a question mark.
std::string readable(std::string_view text) {
  if (is_valid_utf8(text))
    return std::string(text);
  std::string plain;
  for (const char c : text)
    plain += static_cast<unsigned char>(c) < 0x80 ? c : '?';
  return plain;
}

}  // namespace

void Tail::add(std::string_view bytes) {
  kept_.append(bytes);
  if (kept_.size() > 2 * most_bytes_)
    kept_.erase(0, kept_.size() - most_bytes_);
}

std::string Tail::lines(size_t most) const {
  std::string_view text = trim(kept_);
  if (text.size() > most_bytes_)
    text.remove_prefix(text.size() - most_bytes_);
  size_t begin = text.size();
  for (size_t line = 0; line < most && begin != 0; ++line) {
    const size_t newline = begin == 0 ? text.npos : text.rfind('\n', begin - 1);
    begin = newline == text.npos ? 0 : newline;
  }
  return readable(trim(text.substr(begin)));
}

}  // namespace fettle
