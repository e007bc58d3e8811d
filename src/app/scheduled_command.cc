#include "app/scheduled_command.h"

#include <algorithm>
#include <array>

#include "app/commands.h"
#include "app/front_end.h"
#include "base/text.h"
#include "cli/server_choice.h"

namespace fettle {
namespace {

/// Switches that make a command go on until somebody ends it, or talk with who is there.
constexpr std::array<const char*, 5> endless_switches{"follow", "watch", "interactive", "tty",
                                                      "edit"};

std::optional<Error> refusal_of(const Command& command, const CommandLine& parsed) {
  if (std::optional<Error> refusal = refusal_at_server(command, parsed))
    return refusal;
  const std::string called = cat("`fettle ", command.words, "`");
  if (command.words.starts_with("schedule ") || command.words.starts_with("token ") ||
      command.words.starts_with("trust "))
    return user_error(cat(called, " is for whoever keeps the server: it has no schedule"));
  if (command.words == "service shell" || command.words == "controller")
    return user_error(cat(called, " goes on until somebody ends it: it has no schedule"));
  for (const char* const name : endless_switches)
    if (parsed.has(name) && parsed.flag(name))
      return user_error(
          cat(called, " with `--", name, "` goes on until somebody ends it: leave out the switch"));
  return std::nullopt;
}

}  // namespace

Result<ScheduledCommand> scheduled_command(const CommandLine& parsed) {
  ScheduledCommand scheduled;
  if (parsed.arguments.size() < 2)
    return user_error("say what runs: `fettle schedule add NAME --cron TIMES -- COMMAND`");
  scheduled.words.assign(parsed.arguments.begin() + 1, parsed.arguments.end());
  if (scheduled.words[0] == "fettle")
    scheduled.words.erase(scheduled.words.begin());
  scheduled.words = with_front_end(std::move(scheduled.words));
  scheduled.command = TRY(parse_command(all_commands(), scheduled.words, scheduled.parsed));
  if (std::optional<Error> refusal = refusal_of(*scheduled.command, scheduled.parsed))
    return *std::move(refusal);
  return scheduled;
}

void name_scheduled_files(const CommandLine& parsed, NamedFiles& named) {
  // What is shown once is in the output of no run.
  named.is_stream |= parsed.has("hook") || parsed.has("notify");
  // What is wrong with it is said by the server.
  const Result<ScheduledCommand> scheduled = scheduled_command(parsed);
  if (!scheduled || parsed.has("git"))
    return;
  const NamedFiles inner = named_files(*scheduled->command, scheduled->parsed);
  named.reads.insert(named.reads.end(), inner.reads.begin(), inner.reads.end());
  named.addresses.insert(named.addresses.end(), inner.addresses.begin(), inner.addresses.end());
}

Result<CommandRequest> request_of_schedule(const CommandLine& parsed, const CommandRequest& request,
                                           const std::string& root) {
  ScheduledCommand scheduled = TRY(scheduled_command(parsed));
  const NamedFiles named = named_files(*scheduled.command, scheduled.parsed);
  const std::string called = cat("`fettle ", scheduled.command->words, "` with these words ");
  if (named.takes_input)
    return user_error(cat(called, "reads standard input, which a schedule does not have"));
  if (named.is_stream || !named.writes.empty())
    return user_error(cat(called, "gives something to its caller, and a schedule has none"));
  CommandRequest kept = request;
  kept.words = std::move(scheduled.words);
  // As they were before they became those of this server.
  for (std::string& word : kept.words)
    if (word.starts_with(root) &&
        std::ranges::find(request.paths, word.substr(root.size())) != request.paths.end())
      word.erase(0, root.size());
  kept.takes_input = kept.is_stream = kept.is_one_stream = false;
  kept.input_is_terminal = kept.output_is_terminal = kept.errors_are_terminal = false;
  kept.writes.clear();
  // They mean nothing at a server, and a token among them is kept nowhere.
  std::erase_if(kept.environment,
                [](const auto& each) { return is_variable_of_machine(each.first); });
  return kept;
}

}  // namespace fettle
