#include "base/user_variables.h"

#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace fettle {

const char* user_variable(const std::string& name) {
  const std::optional<VariablesOfUser>& own = variables_of_user();
  if (!own)
    return std::getenv(name.c_str());
  const auto found = own->find(name);
  return found == own->end() ? nullptr : found->second.c_str();
}

VariablesOfUser all_user_variables() {
  if (variables_of_user())
    return *variables_of_user();
  VariablesOfUser all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    const size_t equals = text.find('=');
    if (equals != text.npos)
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

}  // namespace fettle
