#include "verbs/environments/unlock.h"

#include <array>

#include <unistd.h>

#include "base/text.h"
#include "base/wait.h"
#include "cli/commands/commands.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "documents/environments.h"

namespace fettle {
namespace {

/// A line that somebody types, without its end.
Result<std::string> line_typed(const std::stop_token& stop) {
  std::string line;
  while (true) {
    TRY(await_descriptor(STDIN_FILENO, POLLIN, for_ever, stop));
    std::array<char, 256> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0)
      return line;
    line.append(bytes.data(), static_cast<size_t>(count));
    if (const size_t end = line.find('\n'); end != line.npos)
      return line.substr(0, end);
  }
}

/// Error (`Blame::user`): nobody has said that the holder may lose its right.
Status check_is_meant(const Face& face, const Workplace& place, const Name& environment,
                      const Holder& holder) {
  if (face.parsed.flag("yes"))
    return {};
  const std::string who = cat("`", environment, "` is in use by ", to_string(holder));
  if (isatty(STDIN_FILENO) != 1)
    return user_error(cat(who, ": `--yes` takes the right to act from it"));
  print_error(cat(who,
                  ".\nIf it still runs, what it is doing goes on, and none of it is recorded.\n"
                  "Type `yes` to take the right to act from it:"));
  if (trim(TRY(line_typed(place.interrupt->acts_token()))) != "yes")
    return user_error("nothing was done: the answer was not `yes`");
  return {};
}

Result<int> run_force_unlock(Face& face) {
  Workplace* const place = TRY(face.workplace());
  const std::string named = face.parsed.text("enclave", face.parsed.argument(0));
  if (named.empty())
    return user_error("name the environment: `fettle enclave ls` lists all");
  const auto [environment, holder] = TRY(find_hindrance(*place, named));
  if (holder) {
    TRY(place->store->check_take_away(environment, *holder));
    TRY(check_is_meant(face, *place, environment, *holder));
    TRY(force_unlock(*place, environment, *holder));
  }
  if (face.json)
    print_json(unlocked_document(environment, holder));
  else if (!face.quiet)
    print_error(holder ? cat(environment, " unlocked: it was in use by ", to_string(*holder))
                       : cat("nobody acts on `", environment, "`: there is nothing to unlock"));
  return 0;
}

void name_answer(const CommandLine& parsed, NamedFiles& named) {
  named.takes_input |= !parsed.flag("yes");
}

}  // namespace

Command force_unlock_command() {
  return with_files(CommandGroup{"environments", {environment_option()}}.make(
                        "force-unlock", "ENCLAVE", 1, 1,
                        "Takes the right to act from a process that will not give it back.\n"
                        "That is for a shared store; in a file the right ends with its process.",
                        {"fettle force-unlock shop", "fettle force-unlock shop --yes"},
                        run_force_unlock, {{{"-y", "--yes"}, "", "do not ask"}}),
                    name_answer);
}

}  // namespace fettle
