#pragma once
/// What the Python of modules seems to declare, read as text: Python is only started for a model
/// whose instances may become resources there.

#include <map>
#include <string>

#include "base/file.h"
#include "model/program/program.h"

namespace fettle::model {

struct PythonMentions {
  std::map<std::string, Path, std::less<>> resources;  ///< files with `@resource("…")`, by entity
  /// `dependency_manager` occurs; or `@export`, and `$INMANTA_CONFIG_EXPORT` names some of them.
  bool has_managers = false;
};

PythonMentions python_mentions(const Program& program);

/// Where a module's or the project's own Python is. Empty: nowhere.
std::map<std::string, Path> python_folders(const Program& program);

}  // namespace fettle::model
