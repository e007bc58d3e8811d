#pragma once
/// Drivers that act on the machine of an agent have its name in theirs: `host@web1`.

#include <string>
#include <string_view>

#include "value/name.h"

namespace fettle {

inline Name driver_on(const Name& driver, std::string_view machine) {
  std::string name = driver.str();
  name += '@';
  name += machine;
  return Name(name);
}

/// Empty: it acts where its environment is.
inline std::string_view machine_of_driver(const Name& driver) {
  const std::string_view name = driver.view();
  const bool has_machine = name.starts_with("host@") || name.starts_with("handler@");
  return has_machine ? name.substr(name.find('@') + 1) : std::string_view();
}

}  // namespace fettle
