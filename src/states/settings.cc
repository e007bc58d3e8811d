#include "states/settings.h"

#include <array>
#include <cmath>

#include "base/text.h"
#include "states/gather.h"
#include "states/params.h"
#include "states/shape.h"

namespace fettle::states {
namespace {

/// The longest wait is a year: more is a mistake.
std::optional<double> number_of(const Value& value) {
  if (value.is_integer() && value.integer())
    return static_cast<double>(*value.integer());
  return value.is_real() ? std::optional(value.real()) : std::nullopt;
}

std::string shown(const Value& value) {
  return clipped(jinja::text_of(jinja::Value::of(value)), 200);
}

Error wrong(std::string_view what, std::string_view expected, const Value& value) {
  return user_error(cat("`", what, "` must be ", expected, ", not ", shown(value)));
}

/// Reads seconds as a number, or a duration such as `10m`.
Result<Duration> duration_of(std::string_view what, const Value& value) {
  const auto seconds = number_of(value);
  if (seconds && *seconds >= 0 && *seconds <= longest_seconds)
    return Duration(static_cast<int64_t>(*seconds * 1e9));
  if (value.is_text())
    if (const Result<Duration> read = parse_duration(value.text()); read && *read >= Duration{0})
      return *read;
  return wrong(what, "seconds or a duration such as `10m`", value);
}

/// Reads one parameter of a wait algorithm.
Result<double> seconds_at(const Value& parameters, std::string_view name) {
  const Value* value = parameters.find(name);
  if (value == nullptr)
    return user_error(cat("a wait needs `", name, "`"));
  const auto number = number_of(*value);
  if (!number || !(*number >= 0) || *number > longest_seconds)
    return wrong(name, "a number of seconds", *value);
  return *number;
}

Result<int64_t> whole_seconds_at(const Value& parameters, std::string_view name) {
  const Value* value = parameters.find(name);
  if (value == nullptr)
    return user_error(cat("the wait `random` needs `", name, "`"));
  if (!value->is_integer() || value->integer().value_or(-1) < 0 ||
      static_cast<double>(value->integer().value_or(0)) > longest_seconds)
    return wrong(name, "a whole number of seconds", *value);
  return *value->integer();
}

Status read_fixed(const Value& parameters, WaitRule& rule) {
  rule.algorithm = WaitRule::Algorithm::fixed;
  rule.seconds = TRY(seconds_at(parameters, "wait_in_seconds"));
  return {};
}

Status read_random(const Value& parameters, WaitRule& rule) {
  rule.algorithm = WaitRule::Algorithm::random;
  rule.shortest = TRY(whole_seconds_at(parameters, "min_value"));
  rule.longest = TRY(whole_seconds_at(parameters, "max_value"));
  if (rule.shortest >= rule.longest)
    return user_error(cat("`min_value` of the wait `random` must be below `max_value`: ",
                          rule.shortest, " is not below ", rule.longest));
  return {};
}

Status read_exponential(const Value& parameters, WaitRule& rule) {
  rule.algorithm = WaitRule::Algorithm::exponential;
  rule.seconds = TRY(seconds_at(parameters, "wait_in_seconds"));
  rule.multiplier = TRY(seconds_at(parameters, "multiplier"));
  if (rule.seconds == 0 || rule.multiplier == 0)
    return user_error("`wait_in_seconds` and `multiplier` of the wait `exponential` must not be 0");
  return {};
}

struct AlgorithmRow {
  std::string_view name;
  std::array<std::string_view, 2> parameters;
  Status (*read)(const Value& parameters, WaitRule& rule);
};

constexpr std::array algorithms{
    AlgorithmRow{"static", {"wait_in_seconds", ""}, read_fixed},
    AlgorithmRow{"random", {"min_value", "max_value"}, read_random},
    AlgorithmRow{"exponential", {"wait_in_seconds", "multiplier"}, read_exponential},
};

constexpr std::array<std::string_view, 4> jitters{"none", "full", "equal", "decorrelated"};

/// What every algorithm takes beside its own parameters.
Status read_extensions(const Value& parameters, const AlgorithmRow& row, WaitRule& rule) {
  for (const Entry& entry : parameters.entries()) {
    if (entry.key == row.parameters[0] || (entry.key == row.parameters[1] && !entry.key.empty()))
      continue;
    if (entry.key == "cap") {
      rule.cap = TRY(seconds_at(parameters, "cap"));
    } else if (entry.key == "jitter") {
      const auto found = entry.value.is_text()
                             ? std::find(jitters.begin(), jitters.end(), entry.value.text().view())
                             : jitters.end();
      if (found == jitters.end())
        return wrong("jitter", "`none`, `full`, `equal` or `decorrelated`", entry.value);
      rule.jitter = static_cast<WaitRule::Jitter>(found - jitters.begin());
    } else {
      const std::array<std::string_view, 4> known{row.parameters[0], row.parameters[1], "cap",
                                                  "jitter"};
      return user_error(cat("the wait `", row.name, "` has no parameter `", entry.key, "`",
                            suggestion(entry.key, known)));
    }
  }
  return {};
}

}  // namespace

Result<Duration> read_seconds(const Value& value) {
  const std::optional<double> seconds = number_of(value);
  if (!seconds || !(*seconds >= 0))
    return world_error(cat("a wait must be a number of seconds, not ", shown(value)));
  return Duration(static_cast<int64_t>(std::min(*seconds, longest_seconds) * 1e9));
}

Result<WaitRule> read_wait(const Value& wait) {
  if (!wait.is_dict() || wait.entries().size() != 1)
    return wrong("wait", "a dictionary of one algorithm, as in {static: {wait_in_seconds: 3}}",
                 wait);
  const Entry& entry = wait.entries()[0];
  std::array<std::string_view, algorithms.size()> names{};
  for (size_t i = 0; i < algorithms.size(); ++i)
    names[i] = algorithms[i].name;
  const auto found = std::find(names.begin(), names.end(), entry.key.view());
  if (found == names.end())
    return user_error(
        cat("there is no wait algorithm `", entry.key, "`", suggestion(entry.key, names)));
  if (!entry.value.is_dict())
    return wrong(entry.key, "a dictionary of parameters", entry.value);
  const AlgorithmRow& row = algorithms[static_cast<size_t>(found - names.begin())];
  WaitRule rule;
  TRY(row.read(entry.value, rule));
  TRY(read_extensions(entry.value, row, rule));
  return rule;
}

Result<bool> is_own_wait(const Value& wait, const Waits& own) {
  if (!wait.is_dict() || wait.entries().size() != 1)
    return false;
  const auto found = own.find(wait.entries()[0].key.str());
  if (found != own.end() && !found->second.empty())
    return user_error(cat("the wait `", found->first, "` cannot be used: ", found->second));
  return found != own.end();
}

namespace {

Status take_wait(const Value& wait, const Waits& own, Settings& settings) {
  settings.wait.reset();
  settings.own_wait = {};
  if (TRY(is_own_wait(wait, own)))
    settings.own_wait = wait;
  else
    settings.wait = TRY(read_wait(wait));
  return {};
}

Result<std::vector<Name>> names_of_list(std::string_view what, std::string_view of,
                                        const Value& value) {
  std::vector<Name> names;
  bool is_good = value.is_list();
  if (is_good)
    for (const Value& item : value.items()) {
      is_good &= item.is_text();
      if (item.is_text())
        names.push_back(item.text());
    }
  if (!is_good)
    return user_error(
        cat(what, " requisite should contain a list of ", of, ", not ", shown(value)));
  return names;
}

Result<std::vector<Value>> commands_of(std::string_view what, const Value& value) {
  std::vector<Value> commands;
  if (value.is_text())
    commands.push_back(value);
  else if (value.is_list())
    commands.assign(value.items().begin(), value.items().end());
  for (const Value& command : commands)
    if (!command.is_text())
      return wrong(what, "a command or a list of commands", value);
  if (commands.empty())
    return wrong(what, "a command or a list of commands", value);
  return commands;
}

Result<bool> bool_of(std::string_view what, const Value& value) {
  if (value.is_bool())
    return value.boolean();
  return wrong(what, "true or false", value);
}

Result<bool> recreation_of(const Value& value) {
  if (!value.is_dict())
    return user_error(cat("recreate_on_update requisite should contain a dict of parameters, not ",
                          shown(value)));
  bool creates_first = false;
  for (const Entry& entry : value.entries()) {
    if (entry.key != "create_before_destroy")
      return user_error(cat("recreate_on_update has no parameter `", entry.key,
                            "`, only `create_before_destroy`"));
    creates_first = TRY(bool_of(entry.key, entry.value));
  }
  return creates_first;
}

Result<Retry> retry_of(const Value& value) {
  Retry retry;
  if (value.is_bool()) {
    retry.attempts = value.boolean() ? retry.attempts : 1;
    return retry;
  }
  if (!value.is_dict())
    return wrong("retry", "true or {attempts, until, interval, splay}", value);
  static constexpr std::array<std::string_view, 4> known{"attempts", "until", "interval", "splay"};
  for (const Entry& entry : value.entries()) {
    if (entry.key == "until") {
      retry.until = TRY(bool_of(entry.key, entry.value));
    } else if (entry.key == "attempts") {
      retry.attempts = entry.value.is_integer() ? entry.value.integer().value_or(0) : 0;
      if (retry.attempts < 1)
        return wrong(entry.key, "a whole number from 1 on", entry.value);
    } else if (entry.key == "interval") {
      retry.interval = TRY(seconds_at(value, "interval"));
    } else if (entry.key == "splay") {
      retry.splay = TRY(seconds_at(value, "splay"));
    } else {
      return user_error(
          cat("`retry` has no parameter `", entry.key, "`", suggestion(entry.key, known)));
    }
  }
  return retry;
}

Status read_reconcile(const Value& value, const Waits& own_waits, Settings& settings) {
  if (!value.is_dict())
    return wrong("reconcile", "{wait, attempt, deadline}", value);
  static constexpr std::array<std::string_view, 3> known{"wait", "attempt", "deadline"};
  for (const Entry& entry : value.entries()) {
    if (entry.key == "wait")
      TRY(take_wait(entry.value, own_waits, settings));
    else if (entry.key == "attempt")
      settings.attempt = TRY(duration_of(entry.key, entry.value));
    else if (entry.key == "deadline")
      settings.deadline = TRY(duration_of(entry.key, entry.value));
    else
      return user_error(
          cat("`reconcile` has no parameter `", entry.key, "`", suggestion(entry.key, known)));
  }
  return {};
}

struct SettingRow {
  std::string_view name;
  Status (*read)(const Value& value, Settings& settings);
};

const std::array setting_rows{
    SettingRow{"sensitive",
               [](const Value& v, Settings& s) -> Status {
                 s.sensitive = TRY(names_of_list("sensitive", "sensitive parameters", v));
                 return {};
               }},
    SettingRow{"ignore_changes",
               [](const Value& v, Settings& s) -> Status {
                 s.ignore_changes = TRY(names_of_list("ignore_changes", "parameter paths", v));
                 return {};
               }},
    SettingRow{"unset",
               [](const Value& v, Settings& s) -> Status {
                 s.unset = TRY(names_of_list("unset", "parameters", v));
                 return {};
               }},
    SettingRow{"unless",
               [](const Value& v, Settings& s) -> Status {
                 s.unless = TRY(commands_of("unless", v));
                 return {};
               }},
    SettingRow{"onlyif",
               [](const Value& v, Settings& s) -> Status {
                 s.onlyif = TRY(commands_of("onlyif", v));
                 return {};
               }},
    SettingRow{"check_cmd",
               [](const Value& v, Settings& s) -> Status {
                 s.check_cmd = TRY(commands_of("check_cmd", v));
                 return {};
               }},
    SettingRow{"recreate_on_update",
               [](const Value& v, Settings& s) -> Status {
                 s.create_before_destroy = TRY(recreation_of(v));
                 return {};
               }},
    SettingRow{"recreate_if_deleted",
               [](const Value& v, Settings& s) -> Status {
                 s.recreate_if_deleted = TRY(bool_of("recreate_if_deleted", v));
                 return {};
               }},
    SettingRow{"failhard",
               [](const Value& v, Settings& s) -> Status {
                 s.failhard = TRY(bool_of("failhard", v));
                 return {};
               }},
    SettingRow{"retry",
               [](const Value& v, Settings& s) -> Status {
                 s.retry = TRY(retry_of(v));
                 return {};
               }},
    SettingRow{"acct_profile",
               [](const Value& v, Settings& s) -> Status {
                 if (!v.is_text())
                   return wrong("acct_profile", "the name of a profile", v);
                 s.acct_profile = v.text();
                 return {};
               }},
};

}  // namespace

namespace {

Status read_setting(const Name& name, const Value& value, const Waits& own_waits,
                    Settings& settings) {
  if (name == "reconcile")
    return read_reconcile(value, own_waits, settings);
  if (name == "__reconcile_wait__")
    return take_wait(value, own_waits, settings);
  return std::ranges::find(setting_rows, name.view(), &SettingRow::name)->read(value, settings);
}

}  // namespace

std::unique_ptr<Settings> read_settings(std::span<const Argument> arguments, TreeValues& values,
                                        const Waits& own_waits, Report& report) {
  std::unique_ptr<Settings> settings;
  for (const Argument& argument : arguments) {
    const GlobalArgument* global = find_global(argument.name);
    if (global == nullptr || global->role != GlobalArgument::Role::setting)
      continue;
    if (settings == nullptr)
      settings = std::make_unique<Settings>();
    const Status status =
        read_setting(argument.name, values.of(*argument.value), own_waits, *settings);
    if (!status)
      report.error(argument.value_position(), status.error().message);
  }
  return settings;
}

}  // namespace fettle::states
