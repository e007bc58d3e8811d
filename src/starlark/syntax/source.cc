/// The text of a program as the lexer reads it.

#include <sys/mman.h>
#include <utf8proc.h>

#include <cstring>
#include <memory>

#include "base/text.h"
#include "starlark/syntax/lexer.h"

namespace fettle::starlark {
namespace {

/// Whether it is UTF-8. Most lines are ASCII, which is checked eight bytes at a time.
bool is_valid_source(std::string_view text) {
  constexpr uint64_t beyond_ascii = 0x8080808080808080u;
  for (size_t at = 0; at < text.size();) {
    uint64_t bytes = 0;
    for (; at + 8 <= text.size(); at += 8) {
      std::memcpy(&bytes, text.data() + at, 8);
      if ((bytes & beyond_ascii) != 0)
        break;
    }
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (!is_valid_utf8(line))
      return false;
    at += line.size() + 1;
  }
  return true;
}

/// Makes a copy; a large one in huge pages, whose first access costs less.
std::string copy_of(std::string_view text) {
  constexpr size_t large = size_t{8} << 20, page = size_t{2} << 20;
  std::string copy;
  copy.reserve(text.size());
  if (text.size() >= large) {
    void* begin = copy.data();
    size_t room = text.size();
    if (std::align(page, page, begin, room) != nullptr)
      madvise(begin, room / page * page, MADV_HUGEPAGE);  // only speed depends on it
  }
  copy = text;
  return copy;
}

}  // namespace

std::string source_text(std::string_view text) {
  std::string source = copy_of(text);
  for (size_t at = source.find('\r'); at != std::string::npos; at = source.find('\r', at + 1)) {
    if (at + 1 == source.size() || source[at + 1] != '\n')
      source[at] = '\n';
  }
  if (is_valid_source(source))
    return source;
  std::string repaired;
  for (size_t at = 0; at < source.size();) {
    utf8proc_int32_t code = 0;
    const auto length = utf8proc_iterate(reinterpret_cast<const uint8_t*>(source.data() + at),
                                         static_cast<utf8proc_ssize_t>(source.size() - at), &code);
    repaired += length > 0 ? std::string_view(source).substr(at, size_t(length)) : "\xEF\xBF\xBD";
    at += length > 0 ? size_t(length) : 1;
  }
  return repaired;
}

}  // namespace fettle::starlark
