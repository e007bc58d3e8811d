#pragma once
/// How a verb changes the world: it takes the right to edit an environment, says what it wants as
/// an intent, and has that carried out. There is no other way.

#include "store/edit.h"
#include "workplace/workplace.h"

namespace fettle {

/// The set of what people make by commands.
inline constexpr std::string_view by_hand = "cli";

/// The right to act on an environment, which need not be there yet. Waits for who has it and says
/// for whom, or fails at once.
Result<std::unique_ptr<Edit>> begin_edit(const Workplace& place, const Name& environment,
                                         bool wait);

/// An environment that nobody else changes meanwhile: what is read of it stays true.
struct Hold {
  Environment environment;
  std::unique_ptr<Edit> edit;
};
/// Errors: those of `find_environment`, also when it went away while we waited, and of
/// `begin_edit`.
Result<Hold> hold_environment(const Workplace& place, const std::string& name, bool wait);

/// The environment of an edit, made when there is none.
Result<Environment> ensure_environment(const Workplace& place, Edit& edit, const Value& detail);
/// Takes over what the engine has under the marks of an environment that the store does not know;
/// whether there was anything.
Result<bool> adopt_environment(const Workplace& place, Edit& edit);

/// Has an intent carried out on threads of this process. `what` of the request is the command.
Result<RunResult> carry_out(const Workplace& place, Edit& edit, RunRequest run_request);

/// What came of an edit.
struct Edited {
  Summary summary;
  Known known;  ///< afterwards
  /// The record of a key; none when it was never done, or is known no more.
  RecordPointer find(const Key& key) const;
};
/// The same for a small intent; the store's errors count as its own.
Result<Edited> edit_by(const Workplace& place, Edit& edit, std::shared_ptr<const Intent> intent);

/// 0: all is done; 1: something failed or is blocked; 3: nothing did, and something was left for
/// later; 130: somebody stopped it.
int exit_code(const Summary& summary);

}  // namespace fettle
