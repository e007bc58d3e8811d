#include "kinds/owned.h"

#include <filesystem>

#include "base/text.h"
#include "core/open_payload.h"

namespace fettle {
namespace {

bool is_octal(std::string_view digits) {
  return !digits.empty() && digits.size() <= 5 &&
         digits.find_first_not_of("01234567") == digits.npos;
}

Status normalise_mode(Hole<Name>& mode) {
  if (mode.is_null() || mode.is_open())
    return {};
  std::string digits = mode.value().is_integer() ? mode.value().integer_digits() : mode.get().str();
  if (digits.starts_with("0o"))
    digits.erase(0, 2);
  if (!is_octal(digits) || std::stoul(digits, nullptr, 8) > 07777)
    return user_error(
        cat("`mode` must be octal digits such as 644, not `", to_text(mode.value()), "`"));
  digits.erase(0, digits.size() > 4 ? digits.size() - 4 : 0);
  mode = std::string(4 - digits.size(), '0') + digits;
  return {};
}

Status normalise_owner(Hole<Name>& owner) {
  if (owner.is_null() || owner.is_open())
    return {};
  if (owner.value().is_integer())
    owner = owner.value().integer_digits();
  if (owner.empty())
    return user_error(cat("an owner or group must be a name, not `", to_text(owner.value()), "`"));
  return {};
}

}  // namespace

const Members& PathSeen::members() {
  static const Members all{member<&PathSeen::type>("type", "`file`, `folder`, `link` or `device`"),
                           given<&PathSeen::digest>("digest", "sha256 of a file's content"),
                           given<&PathSeen::mode>("mode", "four octal digits"),
                           given<&PathSeen::owner>("owner", "name"),
                           given<&PathSeen::group>("group", "name"),
                           given<&PathSeen::uid>("uid", "digits"),
                           given<&PathSeen::gid>("gid", "digits"),
                           given<&PathSeen::leads_to>("leads_to", "where a link leads"),
                           given<&PathSeen::content>("content", "of a file that is not as wanted")};
  return all;
}

Status check_path(const Hole<Name>& path) {
  if (path.is_open())
    return {};
  const std::string_view text = path.view();
  if (!text.starts_with('/') || text.find('\0') != text.npos)
    return user_error(cat("`path` must be an absolute path, not `", to_text(path.value()), "`"));
  return {};
}

std::string place_of_path(std::string_view path) {
  std::string place = std::filesystem::path(path).lexically_normal();
  if (place.size() > 1 && place.ends_with('/'))
    place.pop_back();
  return place;
}

Status normalise_ownership(Hole<Name>& mode, Hole<Name>& owner, Hole<Name>& group) {
  TRY(normalise_mode(mode));
  TRY(normalise_owner(owner));
  TRY(normalise_owner(group));
  return {};
}

Attributes as_applied(const Record& known) {
  const Value& wanted = dict_of(known.applied->attributes);
  if (!wanted.has_deferred())
    return known.applied->attributes;
  const bool is_content_filled = wanted.at("content").has_deferred();
  std::vector<Entry> applied;
  for (const Entry& entry : wanted.entries()) {
    const bool is_told = entry.value.has_deferred() || (is_content_filled && entry.key == "digest");
    applied.push_back(
        {entry.key, is_told ? dict_of(known.outputs).at(entry.key.view()) : entry.value});
  }
  return Attributes(Value::dict(std::move(applied)));
}

std::vector<std::string> ownership_that_differs(const Ownership& wanted, const PathSeen& seen) {
  std::vector<std::string> fields;
  if (!wanted.mode.is_null() && wanted.mode.value() != seen.mode)
    fields.emplace_back("mode");
  const auto is_other = [](const Hole<Name>& name, const Value& found, const Value& number) {
    return !name.is_null() && name.value() != found && name.value() != number;
  };
  if (is_other(wanted.owner, seen.owner, seen.uid))
    fields.emplace_back("owner");
  if (is_other(wanted.group, seen.group, seen.gid))
    fields.emplace_back("group");
  return fields;
}

std::optional<Comparison> compare_presence(bool is_purged, const Observation& seen,
                                           std::string_view type) {
  if (!seen.state)
    return is_purged ? Comparison{} : Comparison{Verb::create, {}, "it is gone"};
  if (is_purged)
    return Comparison{Verb::update, {"purged"}, "it exists, but should be absent"};
  const Name found = read<PathSeen>(*seen.state).type;
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
