#include <cstdlib>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/limits.h"
#include "cli/print.h"
#include "cli/store_choice.h"
#include "documents/stores.h"

namespace fettle {
namespace {

std::string counted(size_t count, std::string_view one) {
  return cat(count, " ", one, count == 1 ? "" : "s");
}

std::string sum_of(const StoreTally& tally) {
  return cat(counted(tally.environments, "environment"), ", ", counted(tally.records, "record"),
             ", ", counted(tally.events, "event"), ", ", counted(tally.versions, "version"), ", ",
             counted(tally.contents, "content"));
}

/// Prints what was found; the exit code.
int tell_tally(const Face& face, const StoreTally& tally, std::string_view done) {
  if (face.json || face.json_lines) {
    print_json(document_of(tally));
  } else {
    for (const std::string& problem : tally.problems)
      print(problem);
    if (!face.quiet)
      print(cat(done, tally.store, ": ", sum_of(tally)));
  }
  return tally.problems.empty() ? 0 : failed_code;
}

std::string variable_here(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<int> store_check(Face& face) {
  const std::string given = face.parsed.argument(0);
  const std::string address = given.empty() ? store_meant(face.parsed) : store_named(given);
  const StoreOpening opening{.may_make = false,
                             .silence = TRY(limits_asked(face.parsed, &variable_here)).silence};
  const StoreTally tally = TRY(check_store(address, TRY(face.home_folder()), opening, {}));
  return tell_tally(face, tally, "checked ");
}

Result<int> store_copy(Face& face) {
  const StoreTally tally =
      TRY(copy_store(store_named(face.parsed.argument(0)), store_named(face.parsed.argument(1)),
                     TRY(face.home_folder()), {}));
  return tell_tally(face, tally, "copied into ");
}

Result<int> store_rotate_key(Face& face) {
  const std::string given = face.parsed.argument(0);
  const std::string address = given.empty() ? store_meant(face.parsed) : store_named(given);
  const KeyRotation rotation =
      TRY(rotate_key(address, TRY(face.home_folder()), face.parsed.text("key-file"), {}));
  if (face.json || face.json_lines) {
    print_json(document_of(rotation));
    return 0;
  }
  if (rotation.unreadable > 0)
    print_error(cat("warning: ", counted(rotation.unreadable, "secret"),
                    " could not be opened with the old key, and stayed as they were"));
  if (!face.quiet)
    print(cat("sealed ", counted(rotation.secrets, "secret"), " of ", rotation.store,
              " with the key ", rotation.after,
              rotation.key_file.empty()
                  ? cat(", which $FETTLE_KEY_COMMAND gives\nkeep the old key ", rotation.before,
                        " as well, for other stores and for backups")
                  : cat(": ", rotation.key_file, "\nthe old key ", rotation.before,
                        " stays in this home, for other stores and for backups")));
  return 0;
}

}  // namespace

std::vector<Command> store_commands() {
  const CommandGroup machine{"machine", {}, CommandPlace::here};
  return {machine.reader("store check", "[URL]", 0, 1,
                         "Reads everything that the store has, and says what is damaged or lost.",
                         {"fettle store check",
                          "fettle store check 'postgres://me@db.example/fettle?schema=team'"},
                         store_check),
          machine.make("store copy", "FROM TO", 2, 2,
                       "Copies a store into an empty one; `file` is that of this home.\n"
                       "Numbers of events and versions stay, and so does the key of secrets.",
                       {"fettle store copy file 'postgres://me@db.example/fettle?schema=team'",
                        "fettle store copy 'postgres://me@db.example/fettle?schema=team' file"},
                       store_copy),
          machine.make("store rotate-key", "[URL]", 0, 1,
                       "Seals all secrets of a store with another key.\n"
                       "Whoever shares the store then needs the new one; nobody may be acting.",
                       {"fettle store rotate-key",
                        "fettle store rotate-key 'postgres://me@db.example/fettle?schema=team'"},
                       store_rotate_key,
                       {{{"--key-file"}, "FILE", "64 random bytes (default: a new key is made)"}})};
}

}  // namespace fettle
