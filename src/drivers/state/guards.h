#pragma once
/// Work before and after a call, as settings ask for it: commands that decide whether it is made
/// and whether it was good, and arguments that are not to be changed.

#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// Why a state needs no call: all commands of `unless` succeed, or one of `onlyif` fails. None: it
/// needs one. Error: a command cannot be run.
Result<std::optional<std::string>> reason_to_leave_alone(const Value& settings,
                                                         std::stop_token stop);

/// The complaints of the commands of `check_cmd`. None: they succeed.
Result<std::optional<std::string>> complaint_of_checks(const Value& settings, std::stop_token stop);

/// The arguments without those that `ignore_changes` names by paths such as `a:b[*]:c`: they become
/// null, for which functions change nothing. Missing ones are not added.
Value with_ignored(const Value& arguments, const Value& paths);

/// The value, with everything marked as a secret that stands at one of these names, at any depth.
Value hidden_at(const Value& value, const Value& names);

/// The result, with everything marked as a secret that stands at one of these names, and without
/// these secrets in the comment.
Value with_hidden(const Value& ret, const Value& names);

/// The memory of a state, without the keys that `unset` names.
Value without_unset(const Value& remembered, const Value& names);

}  // namespace fettle
