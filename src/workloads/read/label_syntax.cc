#include "workloads/read/label_syntax.h"

#include <algorithm>
#include <cctype>

namespace fettle::workloads {
namespace {

constexpr size_t longest_label = 63, longest_prefix = 253;

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_domain(std::string_view text) {
  return !text.empty() && text.size() <= longest_prefix && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '.';
  });
}

}  // namespace

bool is_label_value(std::string_view text) {
  if (text.empty())
    return true;
  return text.size() <= longest_label && is_letter_or_digit(text.front()) &&
         is_letter_or_digit(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_label_key(std::string_view key) {
  const size_t slash = key.find('/');
  const std::string_view name = key.substr(slash == key.npos ? 0 : slash + 1);
  const bool has_good_prefix = slash == key.npos || is_domain(key.substr(0, slash));
  return has_good_prefix && !name.empty() && is_label_value(name);
}

}  // namespace fettle::workloads
