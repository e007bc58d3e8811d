#include "workplace/settings.h"

#include <algorithm>

#include "base/cron.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view settings_note = "settings";

struct Row {
  const char* name;
  const char* otherwise;
  const char* help;
  Status (*check)(const std::string& value);
};

Status check_flag(const std::string& value) {
  if (value == "true" || value == "false")
    return {};
  return user_error(cat("`", value, "` must be true or false"));
}

Status check_cron(const std::string& value) {
  if (value.empty())
    return {};
  TRY(Cron::parse(value));
  return {};
}

Status check_count(const std::string& value) {
  const bool are_digits =
      !value.empty() && value.size() < 10 && value.find_first_not_of("0123456789") == value.npos;
  if (are_digits && std::stol(value) > 0)
    return {};
  return user_error(cat("`", value, "` must be a number above 0"));
}

constexpr std::array<Row, 3> known_settings{{
    {"auto_deploy", "true", "whether a new version is released immediately", check_flag},
    {"auto_full_compile", "", "when `export --if-due` exports everything: cron, in UTC",
     check_cron},
    {"available_versions_to_keep", "100", "how many versions are kept", check_count},
}};

Result<const Row*> find_setting(const std::string& name) {
  std::vector<std::string> names;
  for (const Row& known : known_settings) {
    if (name == known.name)
      return &known;
    names.emplace_back(known.name);
  }
  const std::string near = suggestion(name, names);
  return user_error(cat("there is no setting `", name, "`",
                        near.empty() ? cat("; there are ", join(names, ", ")) : near));
}

Result<Value> stored_settings(const Workplace& place, const Name& environment) {
  return TRY(place.store->note(environment, settings_note)).value_or(Value::dict({}));
}

}  // namespace

Result<std::vector<Setting>> settings(const Workplace& place, const Name& environment) {
  const Value stored = TRY(stored_settings(place, environment));
  std::vector<Setting> found;
  for (const Row& known : known_settings)
    found.push_back({known.name, std::string(stored.text_at(known.name, known.otherwise)),
                     known.otherwise, known.help});
  return found;
}

Result<std::string> setting(const Workplace& place, const Name& environment,
                            const std::string& name) {
  const Row* known = TRY(find_setting(name));
  return std::string(
      TRY(stored_settings(place, environment)).text_at(known->name, known->otherwise));
}

Result<std::string> setting_in(Wish& wish, const std::string& name) {
  const Row* known = TRY(find_setting(name));
  const Value stored = TRY(wish.note(settings_note)).value_or(Value::dict({}));
  return std::string(stored.text_at(known->name, known->otherwise));
}

Status put_setting(Wish& wish, const std::string& name, const std::string& value) {
  const Row* known = TRY(find_setting(name));
  TRY(known->check(value).context(cat("setting `", name, "`")));
  const Value stored = TRY(wish.note(settings_note)).value_or(Value::dict({}));
  std::vector<Entry> entries(stored.entries().begin(), stored.entries().end());
  entries.push_back({known->name, value});
  return wish.put_note(settings_note, Value::dict(std::move(entries)));
}

Status set_setting(const Workplace& place, const Name& environment, const std::string& name,
                   const std::string& value) {
  return place.store->wish(environment, [&](Wish& wish) -> Status {
    TRY(put_setting(wish, name, value));
    return wish.ensure_environment({environment, new_uuid(place), place.clock(), Value::dict({})});
  });
}

Result<bool> full_export_is_due(const Workplace& place, const Name& environment) {
  const std::string text = TRY(setting(place, environment, "auto_full_compile"));
  if (text.empty())
    return false;
  const Cron cron = TRY(Cron::parse(text));
  const std::optional<Value> last = TRY(place.store->note(environment, "last_full_export"));
  if (!last || !last->is_integer())
    return true;
  const std::optional<Time> next = cron.next(Time(Duration(*last->integer())));
  return next && *next <= place.clock();
}

}  // namespace fettle
