#include "packages/names.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/text.h"
#include "core/environment_name.h"

namespace fettle {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_label(std::string_view name, size_t longest) {
  if (name.empty() || name.size() > longest || name.front() == '-' || name.back() == '-')
    return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

Status check_rfc_1035(std::string_view what, std::string_view name) {
  if (is_label(name, 63) && is_letter(name.front()))
    return {};
  return user_error(cat(what, " `", name,
                        "` is invalid: it must follow RFC 1035: lower case letters, digits and "
                        "`-`, a letter first, a letter or digit last, at most 63 characters"));
}

}  // namespace

Status check_service_name(std::string_view name) { return check_rfc_1035("service name", name); }
Status check_portable_key(std::string_view key) { return check_rfc_1035("persistent key", key); }

Status check_port_id(std::string_view id) {
  if (is_label(id, 15) && std::any_of(id.begin(), id.end(), is_letter) && id.find("--") == id.npos)
    return {};
  return user_error(cat("port id `", id,
                        "` is invalid: it must follow RFC 6335: lower case letters, digits and "
                        "single `-`, at least one letter, at most 15 characters"));
}

namespace {

Status check_plain_name(std::string_view what, std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!name.empty() && name.size() <= 255 && plain && name.front() != '.' && name.front() != '-')
    return {};
  return user_error(cat(what, " `", printable(name),
                        "` is invalid: it must have only letters, digits, `-`, `_` and `.`, start "
                        "with a letter, a digit or `_`, and have at most 255 characters"));
}

}  // namespace

Status check_artifact_name(std::string_view name) {
  return check_plain_name("files artifact name", name);
}
Status check_persistent_key(std::string_view key) {
  return check_plain_name("persistent key", key);
}

Status check_network_name(std::string_view what, std::string_view name) {
  return check_plain_name(what, name);
}

Status check_label_key(std::string_view key) {
  const auto fits = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
  };
  if (!key.empty() && key.size() <= 63 && is_letter(key.front()) &&
      (is_letter(key.back()) || is_digit(key.back())) && std::all_of(key.begin(), key.end(), fits))
    return {};
  return user_error(cat("label key `", key,
                        "` is invalid: it must have only lower case letters, digits, `-`, `_` and "
                        "`.`, a letter first, a letter or digit last, at most 63 characters"));
}

Status check_label_value(std::string_view value) {
  const auto is_plain = [](char c) {
    return is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
  };
  const auto fits = [&](char c) { return is_plain(c) || c == '-' || c == '_' || c == '.'; };
  if (value.empty() || (value.size() <= 63 && is_plain(value.front()) && is_plain(value.back()) &&
                        std::all_of(value.begin(), value.end(), fits)))
    return {};
  return user_error(cat("label value `", value,
                        "` is invalid: it must have only letters, digits, `-`, `_` and `.`, a "
                        "letter or digit first and last, at most 63 characters"));
}

std::string in_plain_letters(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"ä", "ae"}, {"ö", "oe"}, {"ü", "ue"}, {"ß", "ss"}, {"æ", "ae"}, {"ø", "o"},  {"å", "aa"},
      {"ł", "l"},  {"đ", "d"},  {"þ", "th"}, {"ð", "d"},  {"œ", "oe"}, {"Ä", "Ae"}, {"Ö", "Oe"},
      {"Ü", "Ue"}, {"Æ", "Ae"}, {"Ø", "O"},  {"Å", "Aa"}, {"Ł", "L"},  {"Œ", "Oe"}};
  std::string plain;
  while (!text.empty()) {
    utf8proc_int32_t letter = 0;
    const utf8proc_ssize_t size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &letter);
    const std::string_view bytes = text.substr(0, size < 1 ? 1 : static_cast<size_t>(size));
    text.remove_prefix(bytes.size());
    const auto* const found =
        std::ranges::find(known, bytes, &std::pair<std::string_view, std::string_view>::first);
    if (bytes.size() == 1) {
      plain += bytes;  // also what is no letter of any alphabet
    } else if (found != std::end(known)) {
      plain += found->second;
    } else {
      utf8proc_int32_t parts[8] = {};
      int last = 0;
      const utf8proc_ssize_t count = utf8proc_decompose_char(
          letter, parts, 8,
          static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_STRIPMARK),
          &last);
      if (count > 0 && count <= 8 && parts[0] < 128) {
        for (utf8proc_ssize_t i = 0; i < count && parts[i] < 128; ++i)
          plain += static_cast<char>(parts[i]);
      } else if (count != 0) {
        char number[16];
        std::snprintf(number, sizeof number, "u%x", static_cast<unsigned>(letter));
        plain += number;
      }
    }
  }
  return plain;
}

Result<Duration> parse_waiting(std::string_view text) {
  const Duration duration = TRY(parse_duration(text));
  if (duration < Duration::zero())
    return user_error(cat("the duration `", text, "` is negative"));
  return duration;
}

std::string environment_name_from(std::string_view path) {
  while (path.ends_with('/'))
    path.remove_suffix(1);
  path = path.substr(0, path.find('@'));
  std::string name(path.substr(path.rfind('/') + 1));
  if (name.ends_with(".star"))
    name.resize(name.size() - 5);
  name = in_plain_letters(name);
  for (char& c : name)
    if (!check_environment_name(std::string_view(&c, 1)) && c != '-' && c != '.')
      c = '-';
  while (!name.empty() && (name.front() == '-' || name.front() == '.'))
    name.erase(0, 1);
  return name.empty() ? "default" : name.substr(0, 60);
}

}  // namespace fettle
