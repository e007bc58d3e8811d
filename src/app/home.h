#pragma once
/// The folder of everything that is kept: the store, contents, packages, a private engine. It shows
/// what runs here and holds secrets, so nobody else may look into it.

#include <functional>
#include <string>

#include "base/result.h"

namespace fettle {

struct Home {
  std::string folder;
  std::string warning;  ///< others may look into it; empty: all is well
  /// The mark of this home on things of an engine that others use, too. It moves with the folder. A
  /// home that is made again at the same place of the same machine has the same id.
  std::string id;
};

/// The value of a variable. Empty: it is not set.
using Variable = std::function<std::string(const char* name)>;

/// Opens `$FETTLE_HOME`, else a folder below `$XDG_STATE_HOME`, else below `$HOME`. The folder is
/// made if it is not there, for its owner alone; an existing one is never changed. Errors
/// (`Blame::user`): no variable names it, it is a folder of the system or somebody's home, or it is
/// no folder.
Result<Home> open_home(const Variable& variable);

/// Errors (`Blame::world`): nothing can be written there; the reason is in the message.
Status check_writable(const std::string& folder);

}  // namespace fettle
