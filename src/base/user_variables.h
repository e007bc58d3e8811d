#pragma once
/// The variables that a user's text may read, such as `${TAG}` of a compose file. They are those of
/// this process, unless it works for somebody whose variables must mean nothing to libraries and to
/// programs that it starts, and who may not see ours: then they are kept here and nowhere else.

#include <map>
#include <optional>
#include <string>

namespace fettle {

using VariablesOfUser = std::map<std::string, std::string>;

/// Set once, before anything is read. None: those of this process.
inline std::optional<VariablesOfUser>& variables_of_user() {
  static std::optional<VariablesOfUser> variables;
  return variables;
}

/// The variable of this name as a user's text may read it. Null: it is not set.
const char* user_variable(const std::string& name);
/// All of them.
VariablesOfUser all_user_variables();

}  // namespace fettle
