#include "cli/columns.h"

#include <utf8proc.h>

#include "base/text.h"

namespace fettle {
namespace {

struct Letter {
  size_t bytes = 1, columns = 1;
};

Letter letter_at(std::string_view text, size_t at) {
  if (static_cast<unsigned char>(text[at]) < 0x80)
    return {};
  utf8proc_int32_t point = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at),
                       static_cast<utf8proc_ssize_t>(text.size() - at), &point);
  if (bytes <= 0)
    return {};
  return {static_cast<size_t>(bytes), static_cast<size_t>(utf8proc_charwidth(point))};
}

}  // namespace

size_t width_of(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    at += letter.bytes;
    columns += letter.columns;
  }
  return columns;
}

std::string cut_to(std::string_view text, size_t columns) {
  if (width_of(text) <= columns)
    return std::string(text);
  size_t used = 0, at = 0;
  while (at < text.size()) {
    const Letter letter = letter_at(text, at);
    if (used + letter.columns + 1 > columns)
      break;
    used += letter.columns;
    at += letter.bytes;
  }
  return cat(text.substr(0, at), columns == 0 ? "" : "…");
}

}  // namespace fettle
