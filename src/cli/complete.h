#pragma once
/// What a shell may put where somebody types: commands, flags, their values, and names of what
/// there is. Pure, but for the names. What an argument is stands in the usage of its command:
/// `ENCLAVE SERVICE PORT`.

#include <functional>
#include <span>

#include "cli/command.h"

namespace fettle {

/// A sort of names that are looked up.
enum class Names {
  environments,
  services,
  ports,
  artifacts,
  files,  ///< in a files artifact
  versions,
  sets,
  settings,
  resources,
  orphans,
  kinds,      ///< of workloads
  workloads,  ///< `KIND/NAME`
  pods,
  nodes,
};

/// Which names there are; the rest as far as the words before say.
struct NamesAsked {
  Names sort = Names::environments;
  std::string environment, service, artifact;
};
using NameSource = std::function<std::vector<std::string>(const NamesAsked&)>;

/// The words that can stand in place of the last one of `words`, which may be empty; none: a file,
/// or anything.
std::vector<std::string> completions(const std::vector<Command>& commands,
                                     std::span<const std::string> words, const NameSource& names);

}  // namespace fettle
