#include "kubernetes/go_json.h"

#include <string_view>

#include "value/json.h"

namespace fettle::kubernetes {
namespace {

/// What Go writes in place of the letters at the beginning; `length`: how many they are.
std::string_view letters_of_go(std::string_view text, size_t& length) {
  struct Row {
    std::string_view ours, of_go;
  };
  static constexpr Row rows[] = {{"<", "\\u003c"},
                                 {">", "\\u003e"},
                                 {"&", "\\u0026"},
                                 {"\xE2\x80\xA8", "\\u2028"},
                                 {"\xE2\x80\xA9", "\\u2029"},
                                 {"\\u007f", "\x7F"},
                                 {"\\u0008", "\\b"},
                                 {"\\u000c", "\\f"}};
  for (const Row& row : rows)
    if (text.starts_with(row.ours)) {
      length = row.ours.size();
      return row.of_go;
    }
  // A backslash belongs to what comes after it.
  length = text[0] == '\\' ? 2 : 1;
  return text.substr(0, length);
}

}  // namespace

std::string write_go_json(const Value& value) {
  std::string json = write_json(value, {.show_secrets = true});
  // Outside of texts, JSON has none of these.
  if (json.find_first_of("<>&\xE2\\") == json.npos)
    return json;
  std::string written;
  written.reserve(json.size() + 64);
  for (std::string_view rest = json; !rest.empty();) {
    size_t length = 0;
    written += letters_of_go(rest, length);
    rest.remove_prefix(length);
  }
  return written;
}

}  // namespace fettle::kubernetes
