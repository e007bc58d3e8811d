#pragma once
/// The meaning of a YAML scalar.

#include <algorithm>
#include <optional>

#include "value/yaml.h"

namespace fettle {

/// A plain (unquoted) one.
Value plain_scalar(std::string_view text, YamlSchema schema);

/// Whether a schema is PyYAML's or a variant of it.
constexpr bool is_pyyaml(YamlSchema schema) {
  return schema == YamlSchema::pyyaml || schema == YamlSchema::idem;
}

constexpr std::string_view yaml_tag_prefix = "tag:yaml.org,2002:";
constexpr std::string_view decimal_digits = "0123456789";

inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

inline std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

/// `yes`, `Yes` or `YES`, for each word.
bool is_word(std::string_view text, std::initializer_list<std::string_view> words);
bool is_made_of(std::string_view text, std::string_view allowed);
/// Whether a text is `1.5`, `.5`, `1e3` or `1.`; without digits it is no real.
bool looks_like_real(std::string_view text);
/// The value of such a text. Infinite: it is out of range.
Value core_real(std::string_view text);
std::optional<Value> special_real(std::string_view text);

/// A plain one in the words of PyYAML's resolver and constructors; nothing: a text.
std::optional<Value> pyyaml_scalar(std::string_view text, YamlSchema schema);

/// A scalar with a tag such as `tag:yaml.org,2002:int`. Errors are worded as PyYAML's.
Result<Value> pyyaml_tagged(std::string_view text, std::string_view tag, YamlSchema schema);

}  // namespace fettle
