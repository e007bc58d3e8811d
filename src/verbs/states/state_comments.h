#pragma once
/// The comments of states that did not run, in Idem's words: each requisite that was not met, and
/// each reference that led nowhere.

#include <functional>
#include <span>

#include "states/compiled_states.h"
#include "verbs/states/states.h"

namespace fettle {

/// All that comments are made from: the results of all chunks, by number. A chunk without a result
/// has no tag.
struct CommentContext {
  const states::CompiledStates& compiled;
  std::span<const StateResult> results;
  /// Whether a look found that something would change, for `prereq`.
  std::function<bool(uint32_t chunk)> would_change;
  bool is_look = false;  ///< a result that is None counts as a success to come
};

/// Whether the requisites of a chunk are met by earlier results.
enum class NeedVerdict { yes, not_needed, failed };
NeedVerdict met_by_results(const CommentContext& of, size_t chunk);

/// A line for each requisite of a chunk that is not met, and for each state of this run in which a
/// reference finds nothing. Empty: there is none.
std::string comment_of_requisites(const CommentContext& of, size_t chunk);

/// Why a reference to something that a former run left leads nowhere. Empty: all references lead
/// somewhere.
std::string comment_of_references(const CommentContext& of, size_t chunk);

/// Why states were never judged: the blocks that they need were not rendered.
std::string comment_of_delayed(const CommentContext& of);

/// A state that a block waits for and that did not succeed. None: all succeeded.
std::optional<Name> holder_of(const CommentContext& of, const states::DelayedBlock& block);

/// Whether a thing that had to go is gone.
bool is_purged(const Record* record);

/// What is due for a thing that the engine has a kind for, and why.
std::string comment_of_look(const Step& step);

/// What was done about a thing that the engine has a kind for, and why.
std::string comment_of_step(const Step* step, Standing standing);

}  // namespace fettle
