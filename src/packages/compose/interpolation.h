#pragma once
/// `$NAME`, `${NAME}`, `${NAME:-otherwise}` and their like in the texts of a project; `$$` is a
/// dollar. The text after an operator may contain variables, too. Any other dollar stays.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "packages/compose/node.h"

namespace fettle::compose {

using Variables = std::map<std::string, std::string, std::less<>>;
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Called with the name of each variable that has neither a value nor a default.
using OnMissing = std::function<void(std::string_view name)>;

/// Errors: a `${` that nothing closes or that has no name, a required variable without a value.
Result<std::string> interpolated(std::string_view text, const Lookup& lookup,
                                 const OnMissing& on_missing);

/// Every string of a node, but not its keys. `text_left`: how many bytes the results may still
/// have; it is reduced by theirs. Error: they have more.
Status interpolate(Node& node, const Lookup& lookup,
                   const std::function<void(const Node&, std::string_view)>& on_missing,
                   size_t& text_left);

/// The variables of a `.env` file, in the words of compose: `NAME=value`, quotes, `export`,
/// comments, `$NAME` of what stands before or of `lookup`. `NAME` alone takes the value of
/// `lookup`. Errors have file, line and column.
Result<Variables> read_env_file(std::string_view text, const std::string& file,
                                const Lookup& lookup);
/// The same for `format: raw`: nothing in a value has a meaning.
Result<Variables> read_raw_env_file(std::string_view text, const std::string& file,
                                    const Lookup& lookup);

}  // namespace fettle::compose
