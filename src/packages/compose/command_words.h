#pragma once
/// Splits a command that is given as one string into words, as compose does.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fettle::compose {

/// Quotes and backslashes are those of a shell, but `\n` and `\t` are a new line and a tab, and
/// `;`, `&`, `|`, `<` or `>` outside of quotes ends the command. Error: a quote or a backslash that
/// nothing follows.
Result<std::vector<std::string>> command_words(std::string_view text);

}  // namespace fettle::compose
