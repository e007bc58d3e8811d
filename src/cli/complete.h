#pragma once
/// Completions for a shell: commands, flags, their values, and names of things that exist. Pure,
/// but for the names. The usage of a command says what each argument is: `ENCLAVE SERVICE PORT`.

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
struct NamesQuery {
  Names sort = Names::environments;
  std::string environment, service, artifact;
};
using NameSource = std::function<std::vector<std::string>(const NamesQuery&)>;

struct Completions {
  std::vector<std::string> words;
  bool is_path_inside = false;  ///< of a service, which nobody can list: no file of this machine
};
/// The words that can stand in place of the last one of `words`, which may be empty; none: a file,
/// or anything.
Completions completions(const std::vector<Command>& commands, std::span<const std::string> words,
                        const NameSource& names);
/// The exit code of `__complete` when not even a file can be meant.
constexpr int code_of_no_file = 3;

}  // namespace fettle
