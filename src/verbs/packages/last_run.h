#pragma once
/// The last run of an environment: its package and its arguments, which are sealed in the store
/// like secrets.

#include <optional>
#include <string>

#include "workplace/workplace.h"

namespace fettle {

struct LastRun {
  std::string package;         ///< a locator, or the path on this machine
  std::string arguments;       ///< JSON or YAML
  std::string arguments_file;  ///< where the arguments came from
  bool operator==(const LastRun&) const = default;
};

/// Whether its package is in files of the machine where it was called, and at no locator.
bool is_of_files(const LastRun& run);

Result<std::optional<LastRun>> read_last_run(const Workplace& place, const Name& environment);
Status write_last_run(const Workplace& place, Edit& edit, const LastRun& run);

/// The identity of a package: its locator without a version, or its path.
std::string package_identity(const std::string& package);

}  // namespace fettle
