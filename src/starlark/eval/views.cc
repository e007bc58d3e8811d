/// Code points, white space, and texts and bytes as sequences of them.

#include <utf8proc.h>

#include "starlark/eval/texts.h"

namespace fettle::starlark {

bool is_space(uint32_t c) {
  switch (c) {
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
    case ' ':
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return c >= 0x2000 && c <= 0x200A;
  }
}

uint32_t decode(std::string_view text, size_t& length) {
  if (static_cast<uint8_t>(text[0]) < 0x80) {
    length = 1;
    return static_cast<uint8_t>(text[0]);
  }
  utf8proc_int32_t code = 0;
  const auto found = utf8proc_iterate(reinterpret_cast<const uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (found <= 0) {
    length = 1;
    return 0xFFFD;
  }
  length = size_t(found);
  return u32(code);
}

bool next_of_view(Vm& vm, const View& view, int64_t& position, Value& item) {
  const std::string_view text = view_of(view.text);
  if (position >= i64(text.size()))
    return false;
  const std::string_view rest = text.substr(size_t(position));
  size_t length = 1;
  switch (view.view_kind()) {
    case ViewKind::elems:
      item = Value::short_text(rest.substr(0, 1));
      break;
    case ViewKind::elem_ords:
    case ViewKind::bytes_elems:
      item = Value::small(static_cast<uint8_t>(rest[0]));
      break;
    case ViewKind::codepoint_ords:
      item = Value::small(decode(rest, length));
      break;
    case ViewKind::codepoints: {
      const uint32_t code = decode(rest, length);
      item = code == 0xFFFD && length == 1 ? make_text(vm.heap(), "\xEF\xBF\xBD")
                                           : Value::short_text(rest.substr(0, length));
      break;
    }
  }
  position += i64(length);
  return true;
}

std::optional<int64_t> length_of_view(const View& view) {
  if (view.view_kind() != ViewKind::elems && view.view_kind() != ViewKind::elem_ords)
    return std::nullopt;
  return i64(view_of(view.text).size());
}

Value index_of_view(Vm&, const View& view, int64_t index) {
  const std::string_view text = view_of(view.text);
  if (view.view_kind() == ViewKind::elems)
    return Value::short_text(text.substr(size_t(index), 1));
  return Value::small(static_cast<uint8_t>(text[size_t(index)]));
}

}  // namespace fettle::starlark
