#pragma once
/// Files of states to low data: read and rendered (`gather.h`), arranged (`high.h`, `arrange.h`),
/// made into chunks and checked against the catalogue, with every requisite and reference resolved.
/// Pure but for what it is lent.
///
///   const Compiled compiled = compile(words, *disk_files(), options);
///   if (!compiled.errors.empty()) …

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "states/catalogue.h"
#include "states/compiled.h"
#include "states/sources.h"

namespace fettle::states {

/// What former runs left: a requisite may name it although it is not in this run.
class Memory {
 public:
  virtual ~Memory() = default;
  /// The names of keys (`core/state_tag.h`) that a state, and an ID or a name, stand for.
  virtual std::vector<Name> find(const Name& state, const Name& target) const = 0;
};

/// What a state that ran has added to its run: `{"block": {text, pipe}}`, `{"chunk": {state, fun,
/// __id__, …}}` or `{"sls": {sources, params, values, prefix}}`.
struct Addition {
  Name by;  ///< the name of its key
  Value what;
};

struct CompileOptions {
  std::vector<std::string> sources{};        ///< `--sls-sources`
  std::vector<std::string> params{};         ///< `--params`
  std::vector<std::string> param_sources{};  ///< `--param-sources`
  std::optional<Params> given_params{};      ///< instead of files
  std::string pipe = "jinja|yaml|replacements";
  std::string run_name = "cli";
  std::string target{};      ///< only this ID and what it needs; empty: everything
  bool is_inverted = false;  ///< present is absent, and the other way about
  /// What is not there fails only the state that names it, arguments that are not known are
  /// warnings, and of two functions the last wins.
  bool is_lenient = false;
  const Catalogue* catalogue = nullptr;  ///< null: the states that ship
  Host host{};
  const Outcomes* outcomes = nullptr;  ///< null: nothing has run
  const Memory* memory = nullptr;      ///< null: there is none
  std::vector<Addition> additions{};   ///< of states that have run
};

/// `words`: paths and refs. With errors there may be chunks, which are not to be run.
Compiled compile(std::span<const std::string> words, Files& files, const CompileOptions& options);

}  // namespace fettle::states
