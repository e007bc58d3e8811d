#pragma once
/// A Starlark package as an intent. Interprets once; reads its source and what is known, and
/// changes nothing.

#include <functional>
#include <stop_token>

#include "packages/draft.h"
#include "packages/sources.h"

namespace fettle {

struct PackageOptions {
  DraftOptions draft;
  std::string main_file = "main.star";
  std::string main_function = "run";
  std::string arguments;       ///< JSON or YAML; empty: none
  std::string arguments_file;  ///< where they come from, for errors
  uint64_t steps = 100'000'000;
  uint64_t memory = uint64_t{512} << 20;
  std::stop_token stop{};  ///< ends the interpretation
  /// Called with the defaults of the main function's parameters, by name, before the function is
  /// called.
  std::function<void(const Value&)> on_defaults{};
  /// What the user says of a compose file that is the main file.
  compose::ProjectRequest compose{};
};

struct Package {
  std::shared_ptr<const Intent> intent;
  Statements statements;
  Value output;        ///< what `run` returned, with holes; JSON-like
  Value plain_output;  ///< the same, with references as the script sees them
  bool has_output = false;
  std::vector<Error> findings;  ///< of the validation; each stands at its instruction
  std::vector<std::string> warnings;
  std::vector<std::string> hidden;                    ///< texts that nobody is told
  std::map<std::string, std::string> uploads;         ///< artifact digest -> path
  std::vector<std::string> images;                    ///< references that are used
  std::map<std::string, int, std::less<>> additions;  ///< it has to be interpreted again with these
  std::vector<std::string> dependencies;              ///< other repositories that it is made of
};

/// Errors (`Blame::user`): the package, its arguments or its program are wrong; with excerpt and
/// back-trace. Also that a stop was asked for.
Result<Package> interpret_package(Sources& sources, const PackageOptions& options,
                                  const Known& known);

/// The line with a statement's result, from the outputs as they are known. `made`: whether the
/// thing that it makes was there before. `created`: how many of its services were not.
enum class Novelty { anew, changed, the_same };
std::string result_line(const Statement& statement, const Known& known,
                        Novelty made = Novelty::anew, size_t created = 0);

/// The text that people read before a statement runs: its description, or a sentence about it.
std::string description_of(const Statement& statement);

}  // namespace fettle
