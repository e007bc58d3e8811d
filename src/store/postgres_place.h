#pragma once
/// Where the server of a store stands: a fail-over to a standby, or a backup that was put back, may
/// have taken the last commits away. Then the store says less than what was done, and rights that
/// were given since must not be given again.
///
/// The store has the place that its rows were last written at, and each home the one that it has
/// last seen. If the server is at another place than the rows say, whoever comes first takes all
/// rights away, draws numbers that nobody can have had, and leaves a note in each environment
/// (`failed_over_note`): whoever acts on it next looks at what bears its marks. If a home has seen a
/// later place of the same server, this one was left behind, and nothing is done.

#include "base/file.h"
#include "store/postgres.h"

namespace fettle {

struct ServerPlace {
  std::string system;    ///< of the data folder, which standbys have from their primary
  int64_t timeline = 0;  ///< begins anew with each promotion, and with what is restored
  std::string tables;    ///< of the table `settings`, which a dump makes anew
  bool operator==(const ServerPlace&) const = default;
};

std::string to_string(const ServerPlace& place);
/// None: the text is not one of `to_string`.
std::optional<ServerPlace> parse_place(std::string_view text);

/// Compares the server's place with what the store and the home say, and does what follows from
/// that. Errors (`Blame::user`): the server was left behind.
Status settle_place(Postgres& database, const Path& home);

}  // namespace fettle
