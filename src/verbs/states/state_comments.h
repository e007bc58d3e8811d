#pragma once
/// Idem's words about why a state did not run: each requisite that was not met, each reference that
/// led nowhere.

#include <functional>
#include <span>

#include "states/compiled.h"
#include "verbs/states/states.h"

namespace fettle {

/// What comments are made of: the results of all chunks, by number; one that has none has no tag.
struct Commented {
  const states::Compiled& compiled;
  std::span<const StateResult> results;
  /// Whether a look found that something would change, for `prereq`.
  std::function<bool(uint32_t chunk)> would_change;
  bool is_look = false;  ///< a result that is None is a success to come
};

/// Whether the requisites of a chunk are met by the results of those before it.
enum class Met { yes, not_needed, failed };
Met met_by_results(const Commented& of, size_t chunk);

/// A line for each requisite of a chunk that is not met, and for each state of this run that a
/// reference finds nothing in; empty: there is none.
std::string comment_of_requisites(const Commented& of, size_t chunk);

/// Why a reference to what a former run left leads nowhere; empty: none does.
std::string comment_of_references(const Commented& of, size_t chunk);

/// Why states never came to be judged: the blocks that they need were not rendered.
std::string comment_of_delayed(const Commented& of);

/// A state that a block waits for and that did not succeed; none when all did.
std::optional<Name> holder_of(const Commented& of, const states::Delayed& block);

/// A thing that was to be away, and is.
bool is_purged(const Record* record);

/// What is due about a thing that the engine has a kind for, and why.
std::string comment_of_look(const Step& step);

/// What was done about a thing that the engine has a kind for, and why.
std::string comment_of_step(const Step* step, Standing standing);

}  // namespace fettle
