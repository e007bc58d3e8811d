#pragma once
/// Where everything is kept: the store, contents, packages, a private engine. What lies there says
/// what runs here and holds secrets, so nobody else may look into it.

#include <functional>
#include <string>

#include "base/result.h"

namespace fettle {

struct Home {
  std::string folder;
  std::string warning;  ///< that others may look into it; empty when all is well
  /// What the things of this home carry on an engine that others use, too. It moves with the
  /// folder, and one that is made anew at the same place of the same machine has the same.
  std::string id;
};

/// The value of a variable; empty when it is not set.
using Variable = std::function<std::string(const char* name)>;

/// `$FETTLE_HOME`, else below `$XDG_STATE_HOME`, else below `$HOME`. Made when it is not there, for
/// its owner alone; one that is there is never changed. Errors (`Blame::user`): nothing names it,
/// it is a folder of the system or somebody's home, it is no folder.
Result<Home> open_home(const Variable& variable);

/// Errors (`Blame::world`): nothing can be written there, with the reason.
Status check_writable(const std::string& folder);

}  // namespace fettle
