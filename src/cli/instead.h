#pragma once
/// Words that users of other tools (kubectl, Kurtosis, Inmanta, Idem, compose) may try, and what
/// does it here.

#include <string_view>

namespace fettle {

/// `words`: of a command that does not exist, such as `engine logs`; empty: nothing is known.
std::string_view instead_of(std::string_view words);
/// `spelling`: a flag that the command `words` does not have, such as `--dry-run`; empty: nothing
/// is known.
std::string_view instead_of_flag(std::string_view words, std::string_view spelling);

}  // namespace fettle
