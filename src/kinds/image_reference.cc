#include "kinds/image_reference.h"

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view host_letters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-[]";

bool is_tag(std::string_view tag) {
  return !tag.empty() && tag.size() <= 128 && tag.front() != '.' && tag.front() != '-' &&
         std::all_of(tag.begin(), tag.end(), [](char c) {
           return is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
                  c == '-';
         });
}

bool is_digest(std::string_view digest) {
  const size_t colon = digest.find(':');
  return colon != digest.npos && colon > 0 && digest.size() >= colon + 33 &&
         digest.find_first_not_of("0123456789abcdef", colon + 1) == digest.npos;
}

/// Words of small letters and digits with `.`, `_`, `__` or any number of `-` between them.
bool is_image_part(std::string_view part) {
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c); };
  if (part.empty() || !is_word(part.front()) || !is_word(part.back()))
    return false;
  for (size_t i = 0; i < part.size(); ++i) {
    if (is_word(part[i]))
      continue;
    const size_t begin = i;
    while (!is_word(part[i + 1]))
      ++i;
    const std::string_view between = part.substr(begin, i + 1 - begin);
    if (between != "." && between != "_" && between != "__" &&
        between.find_first_not_of('-') != between.npos)
      return false;
  }
  return true;
}

}  // namespace

Status check_image_reference(std::string_view reference) {
  if (reference.empty())
    return user_error("the image is empty");
  const auto wrong = [&](std::string_view why) {
    return user_error(cat("image `", reference, "` is invalid: ", why));
  };
  constexpr std::string_view form = "it must be written `[HOST[:PORT]/]NAME[:TAG][@DIGEST]`";
  std::string_view rest = reference;
  if (const size_t at = rest.find('@'); at != rest.npos) {
    if (!is_digest(rest.substr(at + 1)))
      return wrong("what follows `@` is not a digest");
    rest = rest.substr(0, at);
  }
  if (const size_t colon = rest.rfind(':'); colon != rest.npos && colon > rest.rfind('/') + 1) {
    if (!is_tag(rest.substr(colon + 1)))
      return wrong(
          "its tag must have at most 128 letters, digits, `_`, `.` and `-`, and not start with `.` "
          "or `-`");
    rest = rest.substr(0, colon);
  }
  const std::string_view first = rest.substr(0, rest.find('/'));
  if (first.size() < rest.size() &&
      (first.find_first_of(".:") != first.npos || first == "localhost")) {
    if (first.find_first_not_of(host_letters) != first.npos)
      return wrong(form);
    rest.remove_prefix(first.size() + 1);
  }
  if (std::any_of(rest.begin(), rest.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
    return wrong("the name of an image must be lower case");
  for (const std::string_view part : split(rest, '/'))
    if (!is_image_part(part))
      return wrong(form);
  return {};
}

std::pair<std::string, std::string> split_reference(std::string_view reference) {
  if (const size_t at = reference.find('@'); at != reference.npos) {
    std::string_view name = reference.substr(0, at);
    const size_t colon = name.rfind(':');
    if (colon != name.npos && name.find('/', colon) == name.npos)
      name = name.substr(0, colon);  // a digest makes the tag pointless
    return {std::string(name), std::string(reference.substr(at + 1))};
  }
  const size_t colon = reference.rfind(':');
  if (colon == reference.npos || reference.find('/', colon) != reference.npos)
    return {std::string(reference), "latest"};
  return {std::string(reference.substr(0, colon)), std::string(reference.substr(colon + 1))};
}

std::string full_reference(std::string_view reference) {
  if (reference.starts_with("sha256:"))
    return std::string(reference);
  auto [name, tag] = split_reference(reference);
  const size_t slash = name.find('/');
  const std::string_view first = std::string_view(name).substr(0, std::min(slash, name.size()));
  const bool has_registry =
      slash != name.npos && (first.find_first_of(".:") != first.npos || first == "localhost");
  if (!has_registry)
    name = (slash == name.npos ? "docker.io/library/" : "docker.io/") + name;
  return name + (tag.starts_with("sha256:") ? "@" : ":") + tag;
}

}  // namespace fettle
