#include "states/acct.h"

#include <algorithm>

#include "base/fernet.h"
#include "base/text.h"
#include "value/msgpack.h"
#include "value/yaml.h"

namespace fettle::states {
namespace {

/// An error about a file of secrets. It has the place and never the text.
Error unreadable(std::string_view file, std::string_view why, Where where = {}) {
  where.file = file;
  return user_error(cat("the credentials cannot be read: ", why), std::move(where));
}

Value merged(const Value& below, const Value& above) {
  if (!below.is_dict() || !above.is_dict())
    return above;
  std::vector<Entry> entries(below.entries().begin(), below.entries().end());
  for (const Entry& entry : above.entries())
    entries.push_back({entry.key, merged(below.at(entry.key), entry.value)});
  return Value::dict(std::move(entries));
}

}  // namespace

Value sealed(const Value& value) {
  if (value.is_dict()) {
    std::vector<Entry> entries;
    for (const Entry& entry : value.entries())
      entries.push_back({entry.key, sealed(entry.value)});
    return Value::dict(std::move(entries));
  }
  if (value.is_list()) {
    std::vector<Value> items;
    for (const Value& item : value.items())
      items.push_back(sealed(item));
    return Value::list(std::move(items));
  }
  return value.is_null() || value.is_bool() || value.is_secret() ? value : Value::secret(value);
}

Result<Credentials> Credentials::read(std::string_view bytes, std::string_view file,
                                      std::string_view key) {
  if (key.empty() && looks_like_fernet(bytes))
    return unreadable(file, "they are encrypted, and there is no key (`--acct-key`, `ACCT_KEY`)");
  Result<Value> data = Value();
  if (key.empty()) {
    data = read_yaml(bytes, file, YamlSchema::pyyaml);
    if (!data)
      return unreadable(file, "this is not YAML", data.error().where);
  } else {
    const Result<std::string> plain = open_fernet(bytes, key);
    if (!plain)
      return unreadable(file, plain.error().message);
    data = read_msgpack(*plain);
    if (!data)
      return unreadable(file, cat("the decrypted text is not MessagePack: ", data.error().message));
  }
  Result<Credentials> made = of(*data);
  if (!made)
    return unreadable(file, made.error().message);
  return made;
}

Result<Credentials> Credentials::of(const Value& providers) {
  Credentials made;
  if (providers.is_null())
    return made;
  if (!providers.is_dict())
    return user_error("they must be a dictionary of providers");
  for (const Entry& provider : providers.entries()) {
    if (provider.key == "default" && provider.value.is_text()) {
      made.default_profile = provider.value.text();
      continue;
    }
    if (!provider.value.is_dict())
      continue;
    for (const Entry& profile : provider.value.entries())
      if (profile.value.is_dict())
        made.add(provider.key, profile.key, profile.value);
  }
  return made;
}

void Credentials::add(std::string_view provider, std::string_view profile, const Value& values) {
  Value& known = providers_[std::string(provider)][std::string(profile)];
  known = merged(known, sealed(values));
}

void Credentials::add(const Credentials& others) {
  for (const auto& [provider, profiles] : others.providers_)
    for (const auto& [name, values] : profiles)
      add(provider, name, values);
}

Status Credentials::add_made(const Value& made) {
  const std::string_view provider = made.text_at("provider"), source = made.text_at("source");
  if (!source.empty() && !has(provider, source))
    return user_error(cat("the provider `", provider, "` has no profile `", source, "`"));
  Value values = sealed(made.at("values"));
  if (!source.empty())
    values = merged(providers_.find(provider)->second.at(std::string(source)), values);
  providers_[std::string(provider)][std::string(made.text_at("name"))] = values;
  return {};
}

bool Credentials::has(std::string_view provider, std::string_view name) const {
  const auto found = providers_.find(provider);
  return found != providers_.end() && found->second.contains(std::string(name));
}

Status Credentials::check_profile(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [provider, profiles] : providers_)
    for (const auto& [known, values] : profiles)
      names.push_back(known);
  if (name.empty() || name == "default" || std::ranges::find(names, name) != names.end())
    return {};
  if (names.empty())
    return user_error(cat("there is no profile `", name,
                          "`: `--acct-file` (`ACCT_FILE`) names a "
                          "file of credentials"));
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  if (const std::string meant = suggestion(name, names); !meant.empty())
    return user_error(cat("the credentials have no profile `", name, "`", meant));
  return user_error(
      cat("the credentials have no profile `", name, "`, only `", join(names, "`, `"), "`"));
}

Result<Value> Credentials::profile(std::span<const Name> providers, std::string_view name) const {
  const std::string wanted(name.empty() ? default_profile : name);
  Value found = Value::dict({});
  std::string_view from;
  for (const Name& provider : providers) {
    if (!has(provider, wanted))
      continue;
    if (!from.empty())
      return user_error(
          cat("there are profiles `", wanted, "` of several providers: ", from, " and ", provider));
    from = provider;
    found = providers_.find(provider.view())->second.at(wanted);
  }
  return found;
}

Value Credentials::all() const {
  std::vector<Entry> entries{{"default", default_profile}};
  for (const auto& [provider, profiles] : providers_) {
    std::vector<Entry> own;
    for (const auto& [name, values] : profiles)
      own.push_back({name, values});
    entries.push_back({provider, Value::dict(std::move(own))});
  }
  return Value::dict(std::move(entries));
}

Value Credentials::profiles(std::span<const Name> providers) const {
  std::vector<Entry> found;
  for (const auto& [provider, profiles] : providers_) {
    const bool is_wanted = std::ranges::any_of(providers, [&](const Name& name) {
      return provider == name.view() || provider.starts_with(cat(name, "."));
    });
    if (!is_wanted)
      continue;
    std::vector<Entry> entries;
    for (const auto& [name, values] : profiles)
      entries.push_back({name, values});
    found.push_back({provider, Value::dict(std::move(entries))});
  }
  return Value::dict(std::move(found));
}

}  // namespace fettle::states
