#pragma once
/// What an agent lets be done on its machine, and the processes that do it.

#include <set>
#include <string>
#include <vector>

#include "base/file.h"

namespace fettle {

/// The words of `--acts`: what an agent brings to its server.
const std::vector<std::string>& known_acts();
/// `files,commands`. Error (`Blame::user`): a word that is none.
Result<std::set<std::string>> read_acts(const std::string& words);
/// Which of the words allows acts on things of a kind. Empty: none does.
std::string_view act_of_kind(std::string_view kind);

/// Starts a process of this program that acts for a server, within `acts`, as long as the other end
/// of this socket is open. It knows nothing of the token of its agent.
Result<Descriptor> start_acting(const std::set<std::string>& acts);

}  // namespace fettle
