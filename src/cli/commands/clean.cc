#include "base/shell_word.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/environments.h"

namespace fettle {
namespace {

constexpr const char* usual_age = "90d";

/// `90d`, `12h`, `30m`: days, or as Go writes a duration.
Result<Duration> parse_age(const std::string& text) {
  if (text.ends_with('d'))
    return TRY(parse_duration(text.substr(0, text.size() - 1) + "h")) * 24;
  return parse_duration(text);
}

Result<int> run_clean(Face& face) {
  Workplace* place = TRY(face.workplace());
  CleanOptions cleaning;
  cleaning.all = face.parsed.flag("all");
  cleaning.wait = !face.parsed.flag("no-lease-wait");
  const std::string age = face.parsed.text("older-than", usual_age);
  const Result<Duration> older_than = parse_age(age);
  if (!older_than || *older_than < 0s)
    return user_error(
        cat("`--older-than` must be an age such as 30d, 12h or 90m, not `", printable(age), "`"));
  cleaning.older_than = *older_than;
  const bool says = !face.quiet && !face.json;
  const CleanResult cleaned = TRY(clean(*place, cleaning, [&](const std::string& name) {
    if (says)
      print_error(cat(name, " removed"));
  }));
  for (const auto& [name, what] : cleaned.kept)
    if (says)
      print_error(cat(name, " kept: it has ", what, "; `fettle enclave rm ", quoted_for_shell(name),
                      "` removes it"));
  if (says)
    for (const std::string& name : cleaned.images.removed)
      print_error(cat("image ", name, " removed, which was built here"));
  if (says)
    for (const std::string& name : cleaned.images.used)
      print_error(cat("image ", name, " kept: a container uses it"));
  int code = 0;
  for (const auto& [name, summary] : cleaned.left) {
    print_error(cat("environment `", name, "` stays:"));
    code = std::max(code, tell_end(face, summary));
  }
  if (face.json)
    print_json(document_of(cleaned));
  else if (says)
    print_error(cat(counted(cleaned.environments.size(), "environment"), ", ",
                    counted(cleaned.contents, "content"), " and ", counted(cleaned.events, "event"),
                    " removed"));
  return code;
}

}  // namespace

Command clean_command() {
  return CommandGroup{"environments", {}}.make(
      "clean", "", 0, 0,
      "Removes stopped environments, unused contents and built images, and old events.",
      {"fettle clean", "fettle clean -a --older-than 7d"}, run_clean,
      {{{"-a", "--all"},
        "",
        "also running environments; those of models, states and workloads are kept"},
       {{"--older-than"},
        "AGE",
        cat("remove events older than this, such as 7d or 12h (", usual_age,
            "); what `why` needs is kept")}});
}

}  // namespace fettle
