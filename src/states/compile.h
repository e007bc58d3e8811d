#pragma once
/// Files of states to low data: read and rendered (`gather.h`), arranged (`high.h`, `arrange.h`),
/// made into chunks and checked against the catalogue, with every requisite and reference resolved.
/// A compile is pure apart from what it is lent.
///
///   const Compiled compiled = compile(words, *disk_files(), options);
///   if (!compiled.errors.empty()) …

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "states/catalogue.h"
#include "states/compiled_states.h"
#include "states/sources.h"

namespace fettle::states {

/// The memory of former runs: a requisite may name something in it that is not in this run, and a
/// required argument that is in it may be left out.
class Memory {
 public:
  virtual ~Memory() = default;
  /// The names of keys (`core/state_tag.h`) for which a state, and an ID or a name, may stand.
  virtual std::vector<Name> find(const Name& state, const Name& target) const = 0;
  /// Whether the new state of an ID had a value of this name.
  virtual bool has(const Name& state, const Name& id, const Name& parameter) const;
};

/// Something that a state has added to its run: `{"block": {text, pipe}}`, `{"chunk": {state, fun,
/// __id__, …}}` or `{"sls": {sources, params, values, prefix}}`.
struct Addition {
  Name by;  ///< the name of the state's key
  Value what;
};

struct CompileOptions {
  std::vector<std::string> sources{};        ///< `--sls-sources`
  std::vector<std::string> params{};         ///< `--params`
  std::vector<std::string> param_sources{};  ///< `--param-sources`
  std::optional<Params> given_params{};      ///< used instead of files
  std::string pipe = "jinja|yaml|replacements";
  std::string run_name = "cli";
  std::string target{};      ///< only this ID and what it needs; empty: everything
  bool is_inverted = false;  ///< `present` means absent, and the other way round
  /// A missing target fails only the state that names it, unknown arguments are warnings, and the
  /// last of two functions counts.
  bool is_lenient = false;
  const Catalogue* catalogue = nullptr;  ///< null: the states that ship with fettle
  Host host{};
  const Outcomes* outcomes = nullptr;  ///< null: nothing has run
  const Memory* memory = nullptr;      ///< null: there is none
  std::vector<Addition> additions{};   ///< those of states that have run
};

/// `words`: paths and refs. If there are errors, there may still be chunks, which must not run.
CompiledStates compile(std::span<const std::string> words, Files& files,
                       const CompileOptions& options);

}  // namespace fettle::states
