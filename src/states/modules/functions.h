#pragma once
/// What the functions of built-in states share.

#include "states/modules/module.h"
#include "states/shape.h"
#include "value/with.h"

namespace fettle::states {

/// The result: true, false, or none if nobody knows.
using Verdict = std::optional<bool>;

/// An answer without states and changes.
Value ret_of(Verdict result, std::string comment);
/// An answer with both states; its changes are those between them.
Value ret_of(Verdict result, Value comment, Value before, Value after);
/// Checks the shape of an argument. Error: it has another one.
Status check_shape(Shape shape, const ModuleCall& call, std::string_view parameter);
/// Error: it is no number of seconds.
Result<double> seconds_argument(const ModuleCall& call, std::string_view parameter);
/// The text of an argument. Error: it is no text, or empty.
Result<std::string> text_argument(const ModuleCall& call, std::string_view parameter);
/// The dict of an argument; null counts as an empty one. Error: it is something else.
Result<Value> dict_argument(const ModuleCall& call, std::string_view parameter);
/// The items of a list; null counts as an empty one. Error: it is something else.
Result<std::vector<Value>> list_argument(const ModuleCall& call, std::string_view parameter);

using Answer = Result<ModuleAnswer>;

}  // namespace fettle::states
