#pragma once
/// How a verb changes the world: it takes the right to edit an environment, says what it wants as
/// an intent, and has that carried out. There is no other way.

#include "store/edit.h"
#include "workplace/workplace.h"

namespace fettle {

/// The set of things that people make by commands.
inline constexpr std::string_view by_hand = "cli";

/// Takes the right to act on an environment, which need not be there yet. If somebody else has the
/// right, it says for whom it waits, or fails at once.
Result<std::unique_ptr<Edit>> begin_edit(const Workplace& place, const Name& environment,
                                         bool wait);

/// An environment that nobody else changes meanwhile: what was read about it stays true.
struct Hold {
  Environment environment;
  std::unique_ptr<Edit> edit;
};
/// Errors: those of `find_environment`, also if the environment went away while we waited, and
/// those of `begin_edit`.
Result<Hold> hold_environment(const Workplace& place, const std::string& name, bool wait);

/// The environment of an edit. It is made if there is none.
Result<Environment> ensure_environment(const Workplace& place, Edit& edit, const Value& detail);
/// Takes over the engine's things that are marked with an environment that the store does not know.
/// Returns whether there were any.
Result<bool> adopt_environment(const Workplace& place, Edit& edit);

/// Carries out an intent on threads of this process. `what` of the request is the command.
Result<RunResult> carry_out(const Workplace& place, Edit& edit, RunRequest run_request);

/// The result of an edit.
struct EditResult {
  Summary summary;
  Known known;  ///< the records after it
  /// The record of a key. Null: it was never done, or is no longer known.
  RecordPointer find(const Key& key) const;
};
/// The same for a small intent. Errors of the store count as its own.
Result<EditResult> edit_by(const Workplace& place, Edit& edit,
                           std::shared_ptr<const Intent> intent);

/// 0: all is done; 1: something failed or is blocked; 3: nothing failed, and something was left for
/// later; 130: somebody stopped it.
int exit_code(const Summary& summary);

}  // namespace fettle
