#include "workplace/orphans.h"

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/resources.h"
#include "workplace/shown_key.h"

namespace fettle {

namespace {

/// The environment of `-e`, else the project around this folder; none: all of them.
Result<std::vector<Environment>> environments_asked(Face& face) {
  std::string name = face.parsed.text("enclave", face.parsed.argument(0));
  if (!name.empty())
    return std::vector<Environment>{TRY(known_environment(face, name))};
  Workplace* const place = TRY(face.workplace());
  return TRY(place->store->environments());
}

Result<int> orphans_ls(Face& face) {
  Workplace* const place = TRY(face.workplace());
  std::vector<Orphan> all;
  for (const Environment& environment : TRY(environments_asked(face))) {
    const auto own = orphans_of(TRY(place->store->known(environment.name)), *place->kinds);
    all.insert(all.end(), own.begin(), own.end());
  }
  if (face.json) {
    print_json(document_of(all));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"ENVIRONMENT", "RESOURCE", "WAS DECLARED AT"}};
  for (const Orphan& orphan : all)
    rows.push_back({orphan.key.environment.str(), shown_key(orphan.key), orphan.origin.str()});
  print(all.empty() ? "no orphans" : table(rows));
  return 0;
}

void print_fates(const Name& environment, const ChosenOrphans& chosen, const Known& known) {
  for (const Orphan& orphan : chosen.going)
    if (const std::string_view fate = fate_of(orphan, known); fate != "failed")
      print(cat(fate, " ", shown_key(orphan.key),
                orphan.was_found ? ": it existed before and is left in place" : ""));
  for (const UsedOrphan& one : chosen.used)
    print(cat("kept ", shown_key(one.key), ": `", shown_key(one.user), "` still uses it"));
  for (const auto& [key, sharer] : chosen.shared)
    print(cat("kept ", shown_key(key), ": ", to_string(sharer, environment)));
  if (chosen.going.empty() && chosen.used.empty() && chosen.shared.empty())
    print("no orphans");
}

Result<int> orphans_rm(Face& face) {
  std::vector<std::string> words = face.parsed.arguments;
  const std::string named = face.parsed.text("enclave", words.empty() ? "" : words.front());
  if (!face.parsed.has("enclave") && !words.empty())
    words.erase(words.begin());
  if (named.empty())
    return user_error("name the environment with `-e NAME`: `fettle orphans ls` lists orphans");
  if (words.empty() && !face.parsed.flag("all"))
    return user_error("name the orphans to remove, or give `--all`");
  if (!words.empty() && face.parsed.flag("all"))
    return user_error("name orphans or give `--all`, not both");
  Workplace* const place = TRY(face.workplace());
  const Hold hold = TRY(hold_environment(*place, named, !face.parsed.flag("no-lease-wait")));
  const ChosenOrphans chosen = TRY(find_orphans(*place, hold.environment, words));
  const Summary summary = TRY(remove_orphans(*place, *hold.edit, chosen.going));
  const Known known = TRY(place->store->known(hold.environment.name));
  if (face.json)
    print_json(document_of(hold.environment.name, chosen, known));
  else
    print_fates(hold.environment.name, chosen, known);
  return tell_end(face, summary);
}

}  // namespace

std::vector<Command> orphan_commands() {
  const CommandGroup group{around_runs, {}};
  return {
      group.reader("orphans ls", "[ENCLAVE]", 0, 1,
                   "Lists what is no longer wanted but still exists, in one environment or in all.",
                   {"fettle orphans ls", "fettle orphans ls shop"}, orphans_ls,
                   {environment_option()}),
      group.make("orphans rm", "ENCLAVE [RESOURCE…]", 0, 99,
                 "Removes orphans, except what existed before fettle.",
                 {"fettle orphans rm shop service/web", "fettle orphans rm shop --all"}, orphans_rm,
                 {environment_option(), {{"--all"}, "", "every orphan of the environment"}}),
  };
}

}  // namespace fettle
