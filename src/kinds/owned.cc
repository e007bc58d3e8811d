#include "kinds/owned.h"

#include <filesystem>

#include "base/text.h"

namespace fettle {
namespace {

bool is_octal(std::string_view digits) {
  return !digits.empty() && digits.size() <= 5 &&
         digits.find_first_not_of("01234567") == digits.npos;
}

bool is_not_known_yet(const Value& value) { return value.is_unknown() || value.is_deferred(); }

}  // namespace

Status check_path(const Value& attributes, std::string_view field) {
  const Value& path = attributes.at(field);
  if (is_not_known_yet(path))
    return {};
  const std::string_view text = path.is_text() ? attributes.text_at(field) : std::string_view();
  if (!text.starts_with('/') || text.find('\0') != text.npos)
    return user_error(cat("`", field, "` must be an absolute path, not `", to_text(path), "`"));
  return {};
}

std::string place_of_path(const Value& attributes, const Value& outputs) {
  if (attributes.bool_at("purged"))
    return {};
  // What holds an output of something else is known when it was made.
  const std::string_view path =
      attributes.at("path").is_text() ? attributes.text_at("path") : outputs.text_at("path");
  std::string place = std::filesystem::path(path).lexically_normal();
  if (place.size() > 1 && place.ends_with('/'))
    place.pop_back();
  return place;
}

Result<Value> normal_mode(const Value& mode) {
  if (mode.is_null() || is_not_known_yet(mode))
    return mode;
  std::string digits = mode.is_integer() ? mode.integer_digits()
                       : mode.is_text()  ? mode.text().str()
                                         : std::string();
  if (digits.starts_with("0o"))
    digits.erase(0, 2);
  if (!is_octal(digits) || std::stoul(digits, nullptr, 8) > 07777)
    return user_error(cat("`mode` must be octal digits such as 644, not `", to_text(mode), "`"));
  digits.erase(0, digits.size() > 4 ? digits.size() - 4 : 0);
  return Value(std::string(4 - digits.size(), '0') + digits);
}

Result<Value> normal_owner(const Value& owner) {
  if (owner.is_null() || is_not_known_yet(owner))
    return owner;
  if (owner.is_integer())
    return Value(owner.integer_digits());
  if (!owner.is_text() || owner.text().empty())
    return user_error(cat("an owner or group must be a name, not `", to_text(owner), "`"));
  return owner;
}

Result<Value> normal_rights(const Value& attributes) {
  std::vector<Entry> normal(attributes.entries().begin(), attributes.entries().end());
  normal.push_back({"mode", TRY(normal_mode(attributes.at("mode")))});
  normal.push_back({"owner", TRY(normal_owner(attributes.at("owner")))});
  normal.push_back({"group", TRY(normal_owner(attributes.at("group")))});
  return Value::dict(std::move(normal));
}

Value as_applied(const Record& known) {
  const Value& wanted = known.applied->attributes;
  if (!wanted.has_deferred())
    return wanted;
  const bool is_content_filled = wanted.at("content").has_deferred();
  std::vector<Entry> applied;
  for (const Entry& entry : wanted.entries()) {
    const bool is_told = entry.value.has_deferred() || (is_content_filled && entry.key == "digest");
    applied.push_back({entry.key, is_told ? known.outputs.at(entry.key.view()) : entry.value});
  }
  return Value::dict(std::move(applied));
}

std::vector<std::string> rights_that_differ(const Value& wanted, const Value& seen) {
  std::vector<std::string> fields;
  const Value& mode = wanted.at("mode");
  if (!mode.is_null() && mode != seen.at("mode"))
    fields.emplace_back("mode");
  const auto other = [&](const char* field, const char* number) {
    const Value& name = wanted.at(field);
    return !name.is_null() && name != seen.at(field) && name != seen.at(number);
  };
  if (other("owner", "uid"))
    fields.emplace_back("owner");
  if (other("group", "gid"))
    fields.emplace_back("group");
  return fields;
}

std::optional<Comparison> compare_presence(const Value& wanted, const Observation& seen,
                                           std::string_view type) {
  const bool purged = wanted.bool_at("purged");
  if (!seen.state)
    return purged ? Comparison{} : Comparison{Verb::create, {}, "it is gone"};
  if (purged)
    return Comparison{Verb::update, {"purged"}, "it exists, but should be absent"};
  const std::string_view found = seen.state->text_at("type");
  if (found != type)
    return Comparison{Verb::update, {}, cat("there is a ", found, " in its place")};
  return std::nullopt;
}

Comparison drift_of(std::vector<std::string> fields) {
  if (fields.empty())
    return {};
  std::string why =
      cat("`", join(fields, "`, `"), "` ", fields.size() == 1 ? "is" : "are", " not as described");
  return {Verb::update, std::move(fields), std::move(why)};
}

}  // namespace fettle
