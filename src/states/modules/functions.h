#pragma once
/// What the functions of built-in states share.

#include "states/modules/module.h"
#include "states/shape.h"
#include "value/with.h"

namespace fettle::states {

/// The result, true, false or null when nobody knows.
using Verdict = std::optional<bool>;

/// A result without states and changes.
Value ret_of(Verdict result, std::string comment);
/// One with both states; its changes are those between them.
Value ret_of(Verdict result, Value comment, Value before, Value after);
/// Error: the argument has another shape.
Status check_shape(Shape shape, const ModuleCall& call, std::string_view parameter);
/// Error: it is no number of seconds.
Result<double> seconds_argument(const ModuleCall& call, std::string_view parameter);
/// The text of an argument. Error: it is none, or empty.
Result<std::string> text_argument(const ModuleCall& call, std::string_view parameter);
/// A dict; an empty one for null. Error: it is something else.
Result<Value> dict_argument(const ModuleCall& call, std::string_view parameter);
/// The items of a list; none for null. Error: it is something else.
Result<std::vector<Value>> list_argument(const ModuleCall& call, std::string_view parameter);

using Answer = Result<ModuleAnswer>;

}  // namespace fettle::states
