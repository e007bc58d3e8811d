#include "drivers/engine/endpoint.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@";
/// Characters that a path may have as written, but that are escaped together with the rest.
constexpr std::string_view also_as_written = "!'()*[]%";

bool is_hex(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
int digit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

std::string escaped(char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'%', digits[byte >> 4], digits[byte & 15]};
}

Result<std::string> unescaped(std::string_view path) {
  std::string made;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      made += path[i];
      continue;
    }
    if (i + 2 >= path.size() || !is_hex(path[i + 1]) || !is_hex(path[i + 2]))
      return user_error(
          cat("invalid URL escape `", path.substr(i, 3), "` in the endpoint `", path, "`"));
    made += static_cast<char>(digit(path[i + 1]) * 16 + digit(path[i + 2]));
    i += 2;
  }
  return made;
}

Result<std::string> encoded_path(std::string_view path) {
  const std::string meant = TRY(unescaped(path));
  const auto may_stand = [](char c) {
    return plain.find(c) != plain.npos || also_as_written.find(c) != plain.npos;
  };
  if (std::ranges::all_of(path, may_stand))
    return std::string(path);
  std::string made;
  for (const char c : meant)
    made += plain.find(c) != plain.npos ? std::string(1, c) : escaped(c);
  return made;
}

std::string encoded_query(std::string_view query) {
  std::string made;
  for (const char c : query)
    made += c == ' ' || static_cast<unsigned char>(c) >= 0x80 ? escaped(c) : std::string(1, c);
  return made;
}

}  // namespace

Result<std::string> encoded_endpoint(std::string_view endpoint) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(endpoint, is_control))
    return user_error(cat("the endpoint has a control character: `", printable(endpoint), "`"));
  const std::string_view sent = endpoint.substr(0, endpoint.find('#'));
  const size_t question = sent.find('?');
  const std::string path = TRY(encoded_path(sent.substr(0, question)));
  return cat(path.starts_with('/') ? "" : "/", path,
             question == sent.npos ? std::string() : encoded_query(sent.substr(question)));
}

}  // namespace fettle
