#include "packages/names.h"

#include "base/text.h"

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

}  // namespace

Status check_service_name(std::string_view name) {
  if (is_label(name, 63) && is_letter(name.front()))
    return {};
  return user_error(
      cat("service name `", name,
          "` is invalid: it must follow the RFC 1035 standard, that is have lower case "
          "letters, digits and `-`, begin with a letter, end with a letter or digit, and be at "
          "most 63 long"));
}

Status check_port_id(std::string_view id) {
  if (is_label(id, 15) && std::any_of(id.begin(), id.end(), is_letter) && id.find("--") == id.npos)
    return {};
  return user_error(
      cat("port id `", id,
          "` is invalid: it must follow the RFC 6335 standard, that is have lower case letters, "
          "digits and single `-`, at least one letter, and be at most 15 long"));
}

Status check_artifact_name(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!name.empty() && name.size() <= 255 && plain && name.front() != '.' && name.front() != '-')
    return {};
  return user_error(cat("files artifact name `", name,
                        "` is invalid: it must have letters, digits, `-`, `_` and `.` only, "
                        "begin with a letter, a digit or `_`, and be at most 255 long"));
}

Status check_label_key(std::string_view key) {
  const auto fits = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
  };
  if (!key.empty() && key.size() <= 63 && is_letter(key.front()) &&
      (is_letter(key.back()) || is_digit(key.back())) && std::all_of(key.begin(), key.end(), fits))
    return {};
  return user_error(cat("label key `", key,
                        "` is invalid: it must have lower case letters, digits, `-`, `_` and `.`, "
                        "begin with a letter, end with a letter or digit, and be at most 63 long"));
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
                        "` is invalid: it must have letters, digits, `-`, `_` and `.`, begin and "
                        "end with a letter or digit, and be at most 63 long"));
}

Status check_environment_name(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!name.empty() && name.size() <= 60 && plain && name.front() != '-' && name.front() != '.')
    return {};
  return user_error(cat("environment name `", name,
                        "` is invalid: it must have letters, digits, `-`, `_` and `.` only, begin "
                        "with a letter, a digit or `_`, and be at most 60 long"));
}

Result<Duration> parse_waiting(std::string_view text) {
  const Duration duration = TRY(parse_duration(text));
  if (duration < Duration::zero())
    return user_error(cat("the duration `", text, "` is negative"));
  return duration;
}

}  // namespace fettle
