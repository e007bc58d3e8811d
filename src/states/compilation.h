#pragma once
/// What the stages of a compile share, and the stages from low data on; `compile.cc` calls them in
/// this order.

#include <functional>
#include <vector>

#include "states/additions.h"
#include "states/compile.h"
#include "states/low.h"
#include "states/target_index.h"

namespace fettle::states {

/// What was read, as it was written.
struct Front {
  Front();
  Texts texts;
  Report report;
  Params params;
  std::optional<Sources> sources;  ///< none: there is an error
  Gathered gathered;
  Added added;
  High high;
  Low low;
};

std::unique_ptr<Front> read_front(std::span<const std::string> words, Files& files,
                                  const CompileOptions& options);
/// Takes the low data of the front and everything that was reported.
Compiled finish(Front& front, const CompileOptions& options);

struct Compilation {
  const CompileOptions& options;
  const Catalogue& catalogue;
  Compiled& made;
  Report& report;
  std::vector<const Body*> bodies;     ///< of each chunk
  std::vector<const Module*> modules;  ///< of each chunk; null: not known
  std::optional<TargetIndex> chunk_index{};

  /// Of the chunks, made when it is asked for the first time.
  TargetIndex& index();

  /// Whether blocks wait that may bring what is not there.
  bool is_partial() const { return !made.delayed.empty() || made.waits_for_additions; }
  /// Whether a text holds a parameter that nobody gave, as in `validate`: nothing is known of it.
  bool is_asked(std::string_view text) const;
  /// A wrong use of one state: an error, or (`--lenient`) the comment with which it will fail.
  /// `hint`: what was probably meant.
  void fail(Chunk& chunk, Position at, const std::string& comment,
            const std::function<std::string()>& hint = {});
};

/// Of two names, for maps.
struct NamesHash {
  size_t operator()(const std::pair<Name, Name>& names) const {
    return names.first.hash() * 31 + names.second.hash();
  }
};

/// More are told as an error: the engine could not keep them.
inline constexpr size_t most_targets = 4'000'000;

/// `check.cc`: states, functions and arguments that the catalogue lacks.
void check_calls(Compilation& compilation);

/// `contents.cc`: files that states take from the sources.
void read_contents(Compilation& compilation, Sources& sources);

/// `needs.cc`: what requisites name.
void resolve_needs(Compilation& compilation);
/// Appends what `state: target` names to the targets of a compile and makes a need of it. What is
/// not there is remembered, may come later, or is reported; then the answer has no targets.
Need need_of(Compilation& compilation, Chunk& chunk, uint32_t self, const GlobalArgument& requisite,
             const Name& state, const Name& target, Position at);

/// `bind.cc`: references in arguments; then what is sensitive is a secret.
void bind_references(Compilation& compilation);

/// `implied.cc`: what modules and profiles need without saying so.
void add_implied(Compilation& compilation);

/// `select.cc`: `--invert` and `--target`.
void invert(Compilation& compilation);
void select_target(Compilation& compilation);

/// `order.cc`: listeners, what goes first for a `prereq`, circles, ranks.
void put_in_order(Compilation& compilation);

}  // namespace fettle::states
