#pragma once
/// The data that the stages of a compile share, and the stages from low data on. `compile.cc` calls
/// them in this order.

#include <functional>
#include <vector>

#include "states/additions.h"
#include "states/compile.h"
#include "states/low.h"
#include "states/target_index.h"

namespace fettle::states {

/// What was read, as written.
struct Front {
  Front();
  Texts texts;
  Report report;
  Params params;
  std::optional<Sources> sources;  ///< none: there is an error
  GatheredFiles gathered;
  Additions added;
  High high;
  Low low;
};

std::unique_ptr<Front> read_front(std::span<const std::string> words, Files& files,
                                  const CompileOptions& options);
/// Goes on from the low data of the front, and takes over everything that was reported.
CompiledStates finish(Front& front, const CompileOptions& options);

struct Compilation {
  const CompileOptions& options;
  const Catalogue& catalogue;
  CompiledStates& made;
  Report& report;
  std::vector<const Body*> bodies;     ///< of each chunk
  std::vector<const Module*> modules;  ///< of each chunk; null: not known
  std::optional<TargetIndex> chunk_index{};

  /// The index of the chunks, made when it is first needed.
  TargetIndex& index();

  /// Whether there are blocks that wait and may bring what is missing.
  bool is_partial() const { return !made.delayed.empty() || made.waits_for_additions; }
  /// Whether a text contains a parameter that nobody gave, as in `validate`: then nothing is known
  /// about the text.
  bool is_asked(std::string_view text) const;
  /// Reports a wrong use of one state: as an error or, with `--lenient`, as the comment with which
  /// the state will fail. `hint`: what was probably meant.
  void fail(Chunk& chunk, Position at, const std::string& comment,
            const std::function<std::string()>& hint = {});
};

/// Hashes pairs of names, for maps.
struct NamesHash {
  size_t operator()(const std::pair<Name, Name>& names) const {
    return names.first.hash() * 31 + names.second.hash();
  }
};

/// More targets are an error: the engine could not hold them.
inline constexpr size_t most_targets = 4'000'000;

/// `check.cc`: reports states, functions and arguments that are not in the catalogue.
void check_calls(Compilation& compilation);

/// `contents.cc`: reads files that states take from the sources.
void read_contents(Compilation& compilation, Sources& sources);

/// `needs.cc`: finds what requisites name.
void resolve_needs(Compilation& compilation);
/// Appends the chunks that `state: target` names to the targets, and makes a need of them. If they
/// are not there, they may be remembered, come later, or be reported; then the need has no targets.
Need need_of(Compilation& compilation, Chunk& chunk, uint32_t self, const GlobalArgument& requisite,
             const Name& state, const Name& target, Position at);

/// `bind.cc`: binds the references in arguments, then marks sensitive values as secrets.
void bind_references(Compilation& compilation);

/// `implied.cc`: adds needs of modules and profiles that nobody writes.
void add_implied(Compilation& compilation);

/// `select.cc`: `--invert` and `--target`.
void invert(Compilation& compilation);
void select_target(Compilation& compilation);

/// `order.cc`: adds listeners, puts states in front of their `prereq`, and finds circles and ranks.
void put_in_order(Compilation& compilation);

}  // namespace fettle::states
