#include "cli/limits.h"

#include "base/text.h"

namespace fettle {
namespace {

struct Limit {
  const char* flag;
  const char* variable;
  Duration WaitLimits::* field;
  const char* help;
};

constexpr std::array<Limit, 4> limits{{
    {"connect-timeout", "FETTLE_CONNECT_TIMEOUT", &WaitLimits::connect,
     "limit for connecting to an engine or a server"},
    {"silence-timeout", "FETTLE_SILENCE_TIMEOUT", &WaitLimits::silence,
     "limit for silence while a response is expected"},
    {"transfer-timeout", "FETTLE_TRANSFER_TIMEOUT", &WaitLimits::whole,
     "limit for a whole download, pull, build, archive or fetch"},
    {"command-timeout", "FETTLE_COMMAND_TIMEOUT", &WaitLimits::command,
     "limit for a command in a service"},
}};

/// `2m`, where Go writes `2m0s`.
std::string short_text(Duration duration) {
  std::string text = to_string(duration);
  for (const std::string_view zero : {"m0s", "h0m"})
    if (text.ends_with(zero))
      text.resize(text.size() - 2);
  return text;
}

Result<Duration> duration_in(const std::string& text, const std::string& name) {
  const Result<Duration> duration = parse_duration(text);
  if (!duration || *duration < 0s)
    return user_error(cat(
        "`", name, "` must be a time such as `10s` or `5m`, or 0 for no limit, not `", text, "`"));
  return *duration;
}

}  // namespace

std::vector<CommandOption> limit_options() {
  std::vector<CommandOption> options;
  const WaitLimits usual;
  for (const Limit& limit : limits) {
    const Duration otherwise = usual.*limit.field;
    options.push_back({{cat("--", limit.flag)},
                       "TIME",
                       cat(limit.help, " (", otherwise == 0s ? "none" : short_text(otherwise),
                           "); or $", limit.variable)});
  }
  return options;
}

Result<WaitLimits> limits_asked(const CommandLine& parsed,
                                const std::function<std::string(const char*)>& variable) {
  WaitLimits asked;
  for (const Limit& limit : limits) {
    if (const std::string text = parsed.text(limit.flag); !text.empty())
      asked.*limit.field = TRY(duration_in(text, cat("--", limit.flag)));
    else if (const std::string set = variable(limit.variable); !set.empty())
      asked.*limit.field = TRY(duration_in(set, cat("$", limit.variable)));
  }
  return asked;
}

}  // namespace fettle
